"""Baseline of generated texts: the target of the most similar training source."""

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from training.data.text_pairs import TextPair

# Maximum number of similarities in memory (128 MiB).
_MAX_SIMILARITIES = 2**24


def nearest_targets(sources: Sequence[str], train: Sequence[TextPair]) -> list[str]:
    """Return the target of the training pair whose source is most similar to each source.

    The similarity is the cosine of TF-IDF weights of words and of pairs of adjacent words, which white space separates.
    Of several equally similar sources, the first is used.

    Args:
        sources: texts.
        train: training pairs, at least one.
    """
    vectorizer = TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2))
    trained = vectorizer.fit_transform([pair.source for pair in train]).T
    queries = vectorizer.transform(sources)
    n_rows = max(1, _MAX_SIMILARITIES // len(train))
    nearest: list[int] = []
    for start in range(0, len(sources), n_rows):
        similarities = (queries[start : start + n_rows] @ trained).toarray()
        # Rounding must not decide between equally similar sources.
        nearest += np.round(similarities, 9).argmax(axis=1).tolist()
    return [train[number].target for number in nearest]
