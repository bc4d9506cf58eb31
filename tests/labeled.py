"""Small labeled corpora of synthetic words in the formats of GUM and CoNLL-2003, and vectors for them."""

import gzip
from pathlib import Path

import numpy as np

from bitcipher.vectors.cipher_vectors import CipherVectors

TAGS = ("NN", "VB", "JJ", "IN")
KINDS = ("O", "I-PER", "I-LOC")
WORDS = 60


def word(number: int) -> str:
    """Return a word. Its number determines its usual label."""
    return f"word{number}"


def sentences(labels: tuple[str, ...], seed: int, number: int) -> list[list[tuple[str, str]]]:
    """Return sentences of Zipf-distributed words, in which every tenth token has a random label."""
    random = np.random.default_rng(seed)
    result = []
    for _ in range(number):
        numbers = np.minimum(random.zipf(1.4, random.integers(3, 12)), WORDS) - 1
        usual = [labels[n % len(labels)] for n in numbers]
        result.append(
            [
                (word(n), labels[random.integers(len(labels))] if random.random() < 0.1 else label)
                for n, label in zip(numbers, usual, strict=True)
            ]
        )
    return result


def write_gum(folder: Path, number: int = 120) -> Path:
    """Write a treebank with a train, dev and test part."""
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
    """Write the two files of CoNLL-2003, with ten sentences per document."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate(("eng.train", "eng.testa")):
        lines = []
        for index, sentence in enumerate(sentences(KINDS, seed, number)):
            if index % 10 == 0:
                lines += ["-DOCSTART- -X- O O", ""]
            lines += [f"{form} X I-NP {tag}" for form, tag in sentence] + [""]
        (folder / name).write_text("\n".join(lines))
    return folder


def informative_vectors(labels: tuple[str, ...], vector_size: int = 12) -> CipherVectors:
    """Return vectors in which words with the same usual label form clusters."""
    random = np.random.default_rng(5)
    centers = random.normal(size=(len(labels), vector_size))
    rows = np.array([centers[n % len(labels)] for n in range(WORDS)]) + random.normal(0, 0.3, (WORDS, vector_size))
    return CipherVectors([word(n) for n in range(WORDS)], rows.astype(np.float32))


def uninformative_vectors(vector_size: int = 12) -> CipherVectors:
    """Return the same vector for every word."""
    return CipherVectors([word(n) for n in range(WORDS)], np.ones((WORDS, vector_size), np.float32))
