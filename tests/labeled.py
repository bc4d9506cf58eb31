"""Small labeled corpora of invented words in the forms of GUM and CoNLL-2003, and vectors that know labels or not."""

import gzip
from pathlib import Path

import numpy as np

from bitcipher.vectors import CipherVectors

TAGS = ("NN", "VB", "JJ", "IN")
KINDS = ("O", "I-PER", "I-LOC")
WORDS = 60


def word(number: int) -> str:
    """A word, whose usual label is given by its number alone."""
    return f"word{number}"


def sentences(labels: tuple[str, ...], seed: int, number: int) -> list[list[tuple[str, str]]]:
    """Sentences in which every tenth token has another label than its word usually has; some words are frequent."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        numbers = np.minimum(random.zipf(1.4, random.integers(3, 12)), WORDS) - 1
        usual = [labels[n % len(labels)] for n in numbers]
        made.append(
            [
                (word(n), labels[random.integers(len(labels))] if random.random() < 0.1 else label)
                for n, label in zip(numbers, usual, strict=True)
            ]
        )
    return made


def write_gum(folder: Path, number: int = 120) -> Path:
    """A treebank with a train, dev and test part."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, part in enumerate(("train", "dev", "test")):
        lines = []
        for sentence in sentences(TAGS, seed, number):
            lines.append("# text = …")
            lines += [f"{i}\t{form.title()}\t_\tX\t{tag}\t_\t0\t_\t_\t_" for i, (form, tag) in enumerate(sentence, 1)]
            lines.append("")
        (folder / f"tiny-ud-{part}.conllu.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return folder


def write_conll2003(folder: Path, number: int = 120) -> Path:
    """CoNLL-2003's two files, ten sentences a document."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate(("eng.train", "eng.testa")):
        lines = []
        for place, sentence in enumerate(sentences(KINDS, seed, number)):
            if place % 10 == 0:
                lines += ["-DOCSTART- -X- O O", ""]
            lines += [f"{form} X I-NP {tag}" for form, tag in sentence] + [""]
        (folder / name).write_text("\n".join(lines))
    return folder


def knowing(labels: tuple[str, ...], dimensions: int = 12) -> CipherVectors:
    """Vectors in which words of the same usual label lie together."""
    random = np.random.default_rng(5)
    centers = random.normal(size=(len(labels), dimensions))
    rows = np.array([centers[n % len(labels)] for n in range(WORDS)]) + random.normal(0, 0.3, (WORDS, dimensions))
    return CipherVectors([word(n) for n in range(WORDS)], rows.astype(np.float32))


def ignorant(dimensions: int = 12) -> CipherVectors:
    """The same vector for every word."""
    return CipherVectors([word(n) for n in range(WORDS)], np.ones((WORDS, dimensions), np.float32))
