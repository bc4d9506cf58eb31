"""Sentence embeddings from vectors of bitcipher and of other tools, by the same composition.

evaluate_sentences.py TITLE=PATH... --data FOLDER --counts BUILD

PATH is a build, a folder or file of vectors, or a model of fastText (.bin). FOLDER has glue/STS-B, pairs and textclass.
Prints a Markdown table: Spearman × 100 of cosines with human scores, and accuracy of logistic regression in %.
"""

import argparse
import csv
import gzip
import json
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from fasttext_model import FastTextModel
from model2vec import StaticModel
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from bitcipher import CipherVectors, open_build
from bitcipher.formats.word_tokenizer import make_tokenizer
from bitcipher.sentences.sentence_encoder import SentenceEncoder
from bitcipher.vocabulary import OOV

# First bytes of a model of fastText.
FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")

FOLDS = 5
# Inverse strength of the penalty, for embeddings of length 1.
C = 20

HEADER = ("vectors", "STS-B", "fitted", "SICK", "fitted", "TREC-6", "TREC-50", "CLINC150", "20 Newsgroups")


class Pairs(NamedTuple):
    """Pairs of sentences with human scores."""

    left: list[str]
    right: list[str]
    scores: list[float]

    def correlate(self, encoder: SentenceEncoder) -> str:
        """Return Spearman × 100 of cosines and scores."""
        cosines = (encoder.encode(self.left) * encoder.encode(self.right)).sum(axis=1)
        return f"{100 * spearmanr(cosines, self.scores).statistic:.1f}"


class Texts(NamedTuple):
    """Texts with a label each."""

    texts: list[str]
    labels: np.ndarray


class Sets(NamedTuple):
    """All sets. Encoders are fitted to sentences of `sts_train` and `sick_dev`, without their scores."""

    sts_train: Pairs
    sts_dev: Pairs
    sick_train: Pairs
    sick_dev: Pairs
    trec_6: Texts
    trec_50: Texts
    clinc_train: Texts
    clinc_val: Texts
    newsgroups: Texts

    def texts(self) -> Iterator[str]:
        """Yield all texts."""
        for each in self:
            yield from (each.texts if isinstance(each, Texts) else chain(each.left, each.right))


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", nargs="+", type=named, metavar="TITLE=PATH", help="all vectors")
    parser.add_argument("--data", type=Path, required=True, metavar="PATH", help="folder of the evaluation sets")
    parser.add_argument("--counts", metavar="BUILD", help="build with the counts of words, for vectors without counts")
    return parser.parse_args()


def named(argument: str) -> tuple[str, str]:
    """Return the title and the path in TITLE=PATH."""
    title, _, path = argument.partition("=")
    if not (title and path):
        raise argparse.ArgumentTypeError("must be TITLE=PATH")
    return title, path


def read_sets(folder: Path) -> Sets:
    """Read all sets."""

    def sts(name: str) -> Pairs:
        with open(folder / "glue" / "STS-B" / f"{name}.tsv", encoding="utf-8", newline="\n") as lines:
            rows = [*csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
        return Pairs(
            *([row[key] for row in rows] for key in ("sentence1", "sentence2")), [float(r["score"]) for r in rows]
        )

    def lines(name: str) -> list[dict]:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
            return [json.loads(line) for line in stream]

    def sick(name: str) -> Pairs:
        return Pairs(*([row[key] for row in lines(f"pairs/sick_{name}")] for key in ("s1", "s2", "relatedness")))

    def classes(name: str, key: str) -> Texts:
        rows = lines(f"textclass/{name}")
        return Texts([row["text"] for row in rows], np.array([row[key] for row in rows]))

    return Sets(
        *(sts("train"), sts("dev"), sick("train"), sick("dev")),
        *(classes("trec_train", "label_coarse"), classes("trec_train", "label_fine")),
        *(classes("clinc150_train", "label_fine"), classes("clinc150_val", "label_fine")),
        classes("20news_train", "label_fine"),
    )


def make_encoder(path: str, counts: Mapping[str, int] | None, sets: Sets) -> SentenceEncoder:
    """Return the encoder of vectors. A model of fastText gives its own vectors to unknown words."""
    vectors = add_unknown(FastTextModel.read(path), sets) if is_fasttext_model(path) else CipherVectors.load(path)
    return SentenceEncoder.from_vectors(vectors, counts if vectors.counts is None else None)


def is_fasttext_model(path: str) -> bool:
    """Return whether a path is that of a model of fastText."""
    if not path.endswith(".bin"):
        return False
    with open(path, "rb") as stream:
        return stream.read(len(FASTTEXT_MAGIC)) == FASTTEXT_MAGIC


def add_unknown(peer: FastTextModel, sets: Sets) -> CipherVectors:
    """Return the vectors of a model of fastText, also of the unknown words of all texts."""
    words = [*peer.vectors.index_to_key, OOV]
    tokenizer, texts = make_tokenizer(words, whitespace_only=False), [text.lower() for text in sets.texts()]
    unknown = set()
    for text, encoding in zip(texts, tokenizer.encode_batch(texts), strict=True):
        spans = zip(encoding.ids, encoding.offsets, strict=True)
        unknown |= {text[start:stop] for row, (start, stop) in spans if words[row] == OOV}
    unknown = sorted(unknown - {OOV})
    table = np.vstack([peer.vectors.vectors, peer.predict(unknown)])
    return CipherVectors([*peer.vectors.index_to_key, *unknown], table)


def classify(train: tuple[np.ndarray, np.ndarray], test: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the accuracy of logistic regression in %."""
    return 100 * LogisticRegression(C=C, max_iter=1000).fit(*train).score(*test)


def cross_validate(rows: np.ndarray, labels: np.ndarray) -> str:
    """Return the mean and standard deviation of the accuracy over folds."""
    with warnings.catch_warnings(action="ignore"):  # about classes with fewer examples than folds
        folds = [*StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(rows, labels)]
    scores = [classify((rows[train], labels[train]), (rows[test], labels[test])) for train, test in folds]
    return f"{np.mean(scores):.1f} ± {np.std(scores):.1f}"


def evaluate(encoder: SentenceEncoder, sets: Sets) -> list[str]:
    """Return the cells of a row. Only cosines are also given for fitted encoders."""
    fit_sts = encoder.fit([*sets.sts_train.left, *sets.sts_train.right])
    fit_sick = encoder.fit([*sets.sick_dev.left, *sets.sick_dev.right])
    trec, newsgroups = encoder.encode(sets.trec_6.texts), encoder.encode(sets.newsgroups.texts)
    clinc = [(encoder.encode(part.texts), part.labels) for part in (sets.clinc_train, sets.clinc_val)]
    return [
        *(sets.sts_dev.correlate(encoder), sets.sts_dev.correlate(fit_sts)),
        *(sets.sick_train.correlate(encoder), sets.sick_train.correlate(fit_sick)),
        *(cross_validate(trec, sets.trec_6.labels), cross_validate(trec, sets.trec_50.labels)),
        f"{classify(*clinc):.1f}",
        cross_validate(newsgroups, sets.newsgroups.labels),
    ]


def time_encoding(encoder: SentenceEncoder, sentences: Sequence[str]) -> str:
    """Return CPU seconds of our encoder, when it is new and again, and of model2vec with the same folder."""
    with tempfile.TemporaryDirectory() as folder:
        encoder.save(f"{folder}/encoder")
        ours, theirs = SentenceEncoder.load(f"{folder}/encoder"), StaticModel.from_pretrained(f"{folder}/encoder")
    seconds = []
    for encode in (ours.encode, ours.encode, theirs.encode):
        started = time.process_time()
        encode(sentences)
        seconds.append(f"{time.process_time() - started:.2f} s")
    return f"{len(sentences):,} sentences: {seconds[0]}, again {seconds[1]}; model2vec {seconds[2]}"


def main() -> None:
    """Evaluate and print."""
    arguments = parse_arguments()
    sets, counts = read_sets(arguments.data), None
    if arguments.counts:
        vocabulary = open_build(arguments.counts).vocabulary
        counts = dict(zip(vocabulary["word"].to_pylist(), vocabulary["count"].to_pylist(), strict=True))
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}", flush=True)
    for title, path in arguments.vectors:
        encoder = make_encoder(path, counts, sets)
        print(f"| {' | '.join([title, *evaluate(encoder, sets)])} |", flush=True)
    pairs = (sets.sts_train, sets.sick_train)
    encoder = make_encoder(arguments.vectors[0][1], counts, sets)
    print("\n" + time_encoding(encoder, [text for each in pairs for text in (*each.left, *each.right)]))


if __name__ == "__main__":
    main()
