"""Tables of bitcipher/spelling: predicted vectors of held-out words, scores by share, and misspelled words.

measure_spelling.py VECTORS --similarity PATH... --analogies FILE --misspellings FILE... [--peer MODEL.bin]

VECTORS are a build or a folder of vectors that were made with `--spelling-share 0`. A peer is a model of fastText.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from fasttext_model import FastTextModel
from misspellings import Misspelling, read_misspellings

from bitcipher.evaluation.evaluation_sets import list_similarity_files
from bitcipher.spelling.spelling import Spelling
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import OOV
from pipelines.options import EmbeddingOptions

# Held-out words per band of counts. A band ends before the next number.
WORDS_PER_BAND = 400
BANDS = (5, 10, 30, 100, 1000)

SHARES = (0, 0.3, 0.4, 0.5, 0.6, 0.8)
DEFAULT_SHARE = EmbeddingOptions().spelling_share

# Misspelled words whose neighbors are printed, and number of neighbors.
EXAMPLES = 20
NEIGHBORS = 3

Predict = Callable[[Sequence[str]], np.ndarray]
"""Returns vectors of strings, (n, d), of length 1 or 0."""
Fit = Callable[[Sequence[str], np.ndarray, np.ndarray], Predict]
"""Makes the vectors of strings from words, their unit vectors (n, d) and their counts (n,)."""

# Misspelled words whose cosines with all words are in memory at a time.
BLOCK = 256


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", help="a build, or a folder of vectors, without spelling")
    parser.add_argument("--similarity", nargs="+", required=True, help="files of word pairs, or folders of them")
    parser.add_argument("--analogies", required=True, help="file of questions")
    parser.add_argument("--misspellings", nargs="+", type=Path, required=True, help="TSV: misspelling, correct word")
    parser.add_argument("--peer", help="model of fastText, which gensim opens")
    parser.add_argument("--seed", type=int, default=0, help="seed of the held-out words and of the examples")
    return parser.parse_args()


def held_out_rows(vectors: CipherVectors, seed: int) -> list[tuple[str, np.ndarray]]:
    """Return the name and random rows of each band of counts, without `<oov>` and words with zero vectors."""
    draw, bands = np.random.default_rng(seed), []
    is_word = (vectors.norms > 0) & (np.asarray(vectors.words) != OOV)
    for low, high in zip(BANDS, (*BANDS[1:], np.inf), strict=True):
        rows = np.flatnonzero(is_word & (vectors.counts >= low) & (vectors.counts < high))
        name = f"{low} – {high - 1}" if np.isfinite(high) else f"from {low}"
        bands.append((name, np.sort(draw.choice(rows, min(WORDS_PER_BAND, len(rows)), replace=False))))
    return bands


def fit_without(vectors: CipherVectors, bands: Sequence[tuple[str, np.ndarray]], fit: Fit) -> Predict:
    """Fit vectors of strings to all words but those of the bands."""
    is_known = np.ones(len(vectors), bool)
    is_known[np.concatenate([rows for _, rows in bands])] = False
    words = vectors.words.filter(pa.array(is_known))
    return fit(words.to_pylist(), vectors.get_normed_vectors()[is_known], vectors.counts[is_known])


def fit_spelling(words: Sequence[str], units: np.ndarray, counts: np.ndarray) -> Predict:
    """Fit the n-grams of bitcipher."""
    return Spelling.fit(pa.array(words, pa.large_string()), units, counts, DEFAULT_SHARE).predict


def fit_mean(words: Sequence[str], units: np.ndarray, counts: np.ndarray) -> Predict:
    """Return the mean of all vectors as the prediction of any string, a baseline."""
    mean = units.mean(axis=0, keepdims=True)
    return lambda strings: np.repeat(mean / np.linalg.norm(mean), len(strings), axis=0)


def score_held_out(
    vectors: CipherVectors, bands: Sequence[tuple[str, np.ndarray]], predict: Predict
) -> Iterator[list[str]]:
    """Yield the number of held-out words of each band, and the mean cosine of predicted and true vectors."""
    units = vectors.get_normed_vectors()
    for name, rows in bands:
        words = vectors.words.take(pa.array(rows)).to_pylist()
        mean = np.einsum("ij,ij->i", predict(words), units[rows]).mean() if words else 0
        yield [name, f"{len(rows):,}", f"{mean:.3f}"]


def with_share(vectors: CipherVectors, spelling: Spelling, share: float) -> CipherVectors:
    """Return vectors with a share of the spelling, which may be 0. Unknown words have vectors in any case."""
    used = replace(spelling, share=share, rare_count=spelling.rare_count if share else 0)
    table = used.add_to(vectors.get_normed_vectors(), vectors.words, vectors.counts)
    return CipherVectors(vectors.words, table, vectors.counts, None, spelling.to_arrays())


def score_shares(
    vectors: CipherVectors, spelling: Spelling, similarity: Sequence[str], analogies: str
) -> Iterator[list[str]]:
    """Yield Spearman × 100 of each set with all pairs, their mean, and the accuracy of analogies in %, by share."""
    for share in SHARES:
        table = with_share(vectors, spelling, share)
        scores = [table.evaluate_word_pairs(file, oov="spelling").spearman for file in similarity]
        figures = [*scores, np.mean(scores), table.evaluate_word_analogies(analogies).accuracy]
        yield [str(share), *(f"{100 * figure:.1f}" for figure in figures)]


def find_unknown(path: Path, vectors: CipherVectors) -> list[Misspelling]:
    """Return the misspelled words of a list that are unknown, and whose correct word is known."""
    return [pair for pair in read_misspellings(path) if pair.meant in vectors and pair.written not in vectors]


def find_ranks(vectors: CipherVectors, predict: Predict, pairs: Sequence[Misspelling]) -> np.ndarray:
    """Return the rank of the meant word among the neighbors of each misspelled word, from 1 on, (n,) int64."""
    is_word = np.asarray(vectors.words) != OOV
    ranks = np.empty(len(pairs), np.int64)
    for start in range(0, len(pairs), BLOCK):
        block = pairs[start : start + BLOCK]
        cosines = predict([pair.written for pair in block]) @ vectors.vectors.T
        meant = cosines[np.arange(len(block)), [vectors.key_to_index[pair.meant] for pair in block]]
        # Zeros: the word has no known n-gram, and so no neighbors.
        closer = np.where(meant == 0, len(vectors), ((cosines > meant[:, None]) & is_word).sum(axis=1))
        ranks[start : start + BLOCK] = 1 + closer
    return ranks


def share_of_nearest(path: Path, vectors: CipherVectors, predict: Predict) -> list[str]:
    """Return the name and length of a list, and how often the meant word is the nearest neighbor, or among ten."""
    ranks = find_ranks(vectors, predict, find_unknown(path, vectors))
    shares = (f"{(ranks <= limit).mean():.1%}" if len(ranks) else "" for limit in (1, 10))
    return [path.name, f"{len(ranks):,}", *shares]


def describe_examples(
    vectors: CipherVectors, pairs: Sequence[Misspelling], ranks: np.ndarray, seed: int
) -> Iterator[list[str]]:
    """Yield random misspelled words, the word that was meant, its rank, and the first neighbors."""
    chosen = np.random.default_rng(seed).choice(len(pairs), min(EXAMPLES, len(pairs)), replace=False)
    for number in np.sort(chosen):
        neighbors = vectors.most_similar(pairs[number].written, topn=NEIGHBORS, oov="spelling")
        yield [*pairs[number], f"{ranks[number]:,}", ", ".join(word for word, _ in neighbors)]


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table, row by row."""
    for cells in (header, ["---"] * len(header), *rows):
        print("| " + " | ".join(cells) + " |", flush=True)
    print()


def main(chosen: argparse.Namespace) -> None:
    """Measure, and print the tables."""
    vectors = CipherVectors.load(chosen.vectors)
    if vectors.spelling:
        raise SystemExit(f"{chosen.vectors} depends on the spelling already: make vectors with --spelling-share 0.")
    bands = held_out_rows(vectors, chosen.seed)
    held_out, baseline = (
        score_held_out(vectors, bands, fit_without(vectors, bands, fit)) for fit in (fit_spelling, fit_mean)
    )
    rows = ([*row, mean] for row, (*_, mean) in zip(held_out, baseline, strict=True))
    print_table(["count", "held-out words", "mean cosine", "of the mean of all other words"], rows)
    spelling = Spelling.fit(vectors.words, vectors.get_normed_vectors(), vectors.counts, DEFAULT_SHARE)
    files = [file for path in chosen.similarity for file in list_similarity_files(path)]
    header = ["share", *(Path(file).stem for file in files), "mean", "analogies"]
    print_table(header, score_shares(vectors, spelling, files, chosen.analogies))
    spelled = with_share(vectors, spelling, DEFAULT_SHARE)
    tables = [("bitcipher", spelled, spelling.predict)]
    if chosen.peer:
        tables.append(("peer", *FastTextModel.read(chosen.peer)))
    shares = (
        [name, *share_of_nearest(path, table, predict)]
        for path in chosen.misspellings
        for name, table, predict in tables
    )
    print_table(["vectors", "list", "misspelled words", "meant word is nearest", "among ten"], shares)
    pairs = find_unknown(chosen.misspellings[0], vectors)
    examples = describe_examples(spelled, pairs, find_ranks(spelled, spelling.predict, pairs), chosen.seed)
    print_table(["misspelled", "meant", "rank", "neighbors"], examples)


if __name__ == "__main__":
    main(parse_arguments())
