"""Boundary rules: pairs of text chunks, separated by a space, that must be tokenized together.

spaCy matches its special cases across spaces. In `shiftin' 'em`, the two apostrophes are the special case `''`, so
`'em` is split into two tokens. Such chunks are rare, but the tokens must be exactly those of spaCy.
"""

import numpy as np


class BoundaryRules:
    """Finds pairs of chunks that must be tokenized together.

    Args:
        joins: attribute `joins` of a `pipelines.tokenizers.chunk_tokenizer.Rule`.

    Attributes:
        meets: (256, 256) bool, whether two chunks can join, by the last byte before the space and the first byte after
            the space.
    """

    def __init__(self, joins: frozenset[tuple[str, str]]):
        # Joins by the last character before the space and the first character after it.
        self._joins: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for first, second in joins:
            self._joins.setdefault((first[-1], second[0]), []).append((first, second))
        # Number of characters at the space that decide. One more than the longest part of a join, so that a shortened
        # chunk never equals a part.
        self._reach = 1 + max((len(part) for join in joins for part in join), default=0)
        self._cache: dict[tuple[str, str], bool] = {}
        self.meets = np.zeros((256, 256), np.bool_)
        for first, second in joins:
            self.meets[first.encode()[-1], second.encode()[0]] = True

    def may_join(self, before: str, after: str) -> bool:
        """Return whether two chunks, separated by a space, are candidates for being tokenized together.

        A chunk can be a part of one side of a join, because special cases can span several chunks. The result can be
        True for a pair that need not be tokenized together, which only costs time.
        """
        before, after = before[-self._reach :], after[: self._reach]
        if (before, after) not in self._cache:
            self._cache[before, after] = any(
                (before.endswith(first) or first.endswith(before))
                and (after.startswith(second) or second.startswith(after))
                for first, second in self._joins.get((before[-1], after[0]), ())
            )
        return self._cache[before, after]
