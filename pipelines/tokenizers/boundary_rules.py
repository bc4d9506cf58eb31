"""Chunks that a rule would take together although a space stands between them.

spaCy's special cases are matched over tokens, whatever stands between: in `shiftin' 'em` the two apostrophes are
its special case `''`, and `'em` falls apart. That is rare, but the same tokens are the same tokens.
"""

import numpy as np


class BoundaryRules:
    """Tells chunks that reach into each other from the many that do not.

    Args:
        reaches: see `pipelines.tokenizers.chunk_tokenizer.Rule`.
    """

    def __init__(self, reaches: frozenset[tuple[str, str]]):
        # Whatever ends in the one and begins with the other shares these two letters.
        self._reaches: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for first, second in reaches:
            self._reaches.setdefault((first[-1], second[0]), []).append((first, second))
        self._known: dict[tuple[str, str], bool] = {}
        self.meets = np.zeros((256, 256), np.bool_)
        for first, second in reaches:
            self.meets[first.encode()[-1], second.encode()[0]] = True

    def between(self, before: str, behind: str) -> bool:
        """Whether the chunk before a space may reach into the one behind it.

        Either may be a part of what is reached for, for that can run over several chunks. To say yes too often costs
        time, and nothing else.
        """
        if (before, behind) not in self._known:
            self._known[before, behind] = any(
                (before.endswith(first) or first.endswith(before))
                and (behind.startswith(second) or second.startswith(behind))
                for first, second in self._reaches.get((before[-1], behind[0]), ())
            )
        return self._known[before, behind]
