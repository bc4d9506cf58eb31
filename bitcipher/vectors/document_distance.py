"""Word mover's distance between documents (Kusner et al. 2015), by POT as in gensim."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.installation import install_command
from bitcipher.table.keys import Key, Oov, as_list
from bitcipher.vectors.lookup import WordLookup


class DocumentDistance(WordLookup):
    """The part of `CipherVectors` that compares lists of words by the cost to move one to the other."""

    def wmdistance(
        self, document1: Iterable[Key], document2: Iterable[Key], norm: bool = True, oov: Oov = False
    ) -> float:
        """Return the word mover's distance between two lists of words. Needs `bitcipher[wmd]`.

        It is the lowest cost to move the words of one document to those of the other, where a word has its share of
        the document as its mass, and the cost is the Euclidean distance of vectors.

        Args:
            document1: words.
            document2: words.
            norm: whether to scale vectors to length 1 first.
            oov: whether unknown words get the vector of `<oov>`, or "spelling"; by default they are left out, as in
                gensim.

        Returns:
            The distance; infinity if a document has no words with a vector.

        Raises:
            BitcipherError: if POT is not installed, or a document is a string instead of a list.
        """
        try:
            from ot import emd2
        except ImportError:
            raise BitcipherError(f"wmdistance requires POT: run `{install_command('wmd')}`.") from None
        from scipy.spatial.distance import cdist

        documents: list[Counter[Key]] = []
        for document in (document1, document2):
            if isinstance(document, str):
                raise BitcipherError("wmdistance takes lists of words: split the text first.")
            documents.append(Counter(word for word in as_list(document) if oov or word in self))
        if not all(documents):
            return float("inf")
        rows = [np.stack([self.get_vector(word, norm, oov) for word in counts]) for counts in documents]
        masses = [np.array(list(counts.values()), np.float64) / counts.total() for counts in documents]
        costs = cdist(rows[0].astype(np.float64), rows[1].astype(np.float64))
        distance: Any = emd2(masses[0], masses[1], costs)
        return float(distance)
