"""Boundary rules: chunks of text that a rule tokenizes together although a space separates them.

spaCy matches its special cases over tokens, whatever is between them: in `shiftin' 'em`, the two apostrophes are the
special case `''`, so `'em` is split. This is rare, but the tokens must be exactly those of spaCy.
"""

import numpy as np


class BoundaryRules:
    """Test for pairs of chunks that must be tokenized together.

    Args:
        joins: see `pipelines.tokenizers.chunk_tokenizer.Rule`.
    """

    def __init__(self, joins: frozenset[tuple[str, str]]):
        # Indexed by the last and the first character at the space.
        self._joins: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for first, second in joins:
            self._joins.setdefault((first[-1], second[0]), []).append((first, second))
        self._cache: dict[tuple[str, str], bool] = {}
        self.meets = np.zeros((256, 256), np.bool_)
        for first, second in joins:
            self.meets[first.encode()[-1], second.encode()[0]] = True

    def may_join(self, before: str, after: str) -> bool:
        """Return whether two chunks around a space may have to be tokenized together.

        Either chunk may be a part of a special case, which can span several chunks. A false positive costs only time.
        """
        if (before, after) not in self._cache:
            self._cache[before, after] = any(
                (before.endswith(first) or first.endswith(before))
                and (after.startswith(second) or second.startswith(after))
                for first, second in self._joins.get((before[-1], after[0]), ())
            )
        return self._cache[before, after]
