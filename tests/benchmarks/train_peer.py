"""Train vectors of another tool on a file of tokens, with our vocabulary and window, on one thread.

train_peer.py NAME TOKENS DIMENSIONS TARGET     NAME is skip-gram, cbow, fasttext or ppmi-svd

The target is a file in word2vec's format: text for fastText, otherwise binary. GloVe is trained by its own programs
(see `trained_vectors.py`). The number of epochs is the default of the tools.
"""

import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from gensim.models import KeyedVectors
from gensim.models.word2vec import LineSentence, Word2Vec
from scipy.sparse.linalg import svds

WINDOW = 4
MIN_COUNT = 5
EPOCHS = 5
SEED = 1

# Levy, Goldberg & Dagan 2015, "Improving distributional similarity with lessons learned from word embeddings":
# exponents of the context counts and of the singular values.
CONTEXT_EXPONENT = 0.75
VALUE_EXPONENT = 0.5

BATCH_TOKENS = 5_000_000  # number of tokens counted at a time


def train_word2vec(tokens: str, dimensions: int, target: str, skip_gram: bool) -> None:
    """Train gensim's word2vec with negative sampling."""
    training = {"sg": int(skip_gram), "window": WINDOW, "negative": 5, "epochs": EPOCHS, "workers": 1, "seed": SEED}
    model = Word2Vec(LineSentence(tokens), vector_size=dimensions, min_count=MIN_COUNT, **training)
    model.wv.save_word2vec_format(target, binary=True)


def train_fasttext(tokens: str, dimensions: int, target: str) -> None:
    """Train fastText's skip-gram with n-grams of 3 to 6 letters; its seed cannot be set.

    The model, which also has vectors of n-grams, is stored beside the target, with the suffix .bin.
    """
    import fasttext

    training = {"ws": WINDOW, "epoch": EPOCHS, "thread": 1}
    model = fasttext.train_unsupervised(tokens, "skipgram", dim=dimensions, minCount=MIN_COUNT, **training)
    model.save_model(str(Path(target).with_suffix(".bin")))
    words = [word for word in model.words if word != "</s>"]  # the end of a line
    with open(target, "w", encoding="utf-8", newline="\n") as lines:
        lines.write(f"{len(words)} {dimensions}\n")
        for word in words:
            lines.write(f"{word} {' '.join(f'{value:.6g}' for value in model.get_word_vector(word))}\n")


def train_ppmi_svd(tokens: str, dimensions: int, target: str) -> None:
    """Compute positive pointwise mutual information and its truncated SVD with SciPy."""
    words, counts = count_pairs(tokens)
    sums = np.asarray(counts.sum(axis=1)).ravel()
    contexts = np.asarray(counts.sum(axis=0)).ravel() ** CONTEXT_EXPONENT
    entries = counts.tocoo()
    information = np.log(entries.data / sums[entries.row] / (contexts / contexts.sum())[entries.col])
    entries.data = np.maximum(information, 0).astype(np.float32)
    matrix = entries.tocsr()
    matrix.eliminate_zeros()
    left, values, _ = svds(matrix, dimensions, random_state=SEED)
    vectors = KeyedVectors(dimensions)
    vectors.add_vectors(words, (left * values**VALUE_EXPONENT).astype(np.float32))
    vectors.save_word2vec_format(target, binary=True)


def count_pairs(tokens: str) -> tuple[list[str], sp.csr_array]:
    """Return the frequent words, most frequent first, and their co-occurrence counts within the window."""
    lines = [line.split() for line in Path(tokens).read_text("utf-8").split("\n")]
    counts = Counter(word for line in lines for word in line)
    words = [word for word, count in counts.most_common() if count >= MIN_COUNT]
    numbers = {word: number for number, word in enumerate(words)}
    total = sp.csr_array((len(words), len(words)))
    gap = np.full(WINDOW, -1, np.int32)  # between lines, because windows do not cross them
    pending: list[np.ndarray] = []
    for number, line in enumerate(lines, 1):
        pending += [np.array([numbers.get(word, -1) for word in line], np.int32), gap]
        if sum(map(len, pending)) > BATCH_TOKENS or number == len(lines):
            total = total + _count_batch(np.concatenate(pending), len(words))
            pending = []
    return words, total + total.T


def _count_batch(numbers: np.ndarray, words: int) -> sp.csr_array:
    """Return the counts of pairs of word numbers at offsets up to WINDOW. -1 is not a word."""
    total = sp.csr_array((words, words))
    for offset in range(1, WINDOW + 1):
        left, right = numbers[:-offset], numbers[offset:]
        both = (left >= 0) & (right >= 0)
        total = total + sp.csr_array((np.ones(both.sum()), (left[both], right[both])), shape=total.shape)
    return total


TRAINERS = {
    "skip-gram": partial(train_word2vec, skip_gram=True),
    "cbow": partial(train_word2vec, skip_gram=False),
    "fasttext": train_fasttext,
    "ppmi-svd": train_ppmi_svd,
}

if __name__ == "__main__":
    name, tokens, dimensions, target = sys.argv[1:]
    TRAINERS[name](tokens, int(dimensions), target)
