"""Vectors of unknown words from a BytesCNN, from the n-grams of bitcipher, and from fastText.

compare_byte_spelling.py VECTORS --misspellings FILE... [--fasttext MODEL.bin] [--set NAME=VALUE...]

VECTORS are a build or a folder of vectors that were made with `--spelling-share 0`. Random words are held out. A
BytesCNN and the n-grams learn the vectors of all other words, and the mean of these vectors is a baseline. The first
table has the mean cosine between predicted and true vectors of the held-out words, by count. The second table says how
often the meant word is the nearest neighbor of a misspelled word. The model of fastText, of the same text, has learned
all words, and is in the second table only, because its vectors have other dimensions. Run it with OMP_NUM_THREADS=1.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from fasttext_model import FastTextModel
from measure_spelling import (
    Fit,
    Predict,
    fit_mean,
    fit_spelling,
    fit_without,
    held_out_rows,
    print_table,
    score_held_out,
    share_of_nearest,
)

from bitcipher.files.settings import apply_settings
from bitcipher.vectors.cipher_vectors import CipherVectors
from training.studies.byte_embeddings.alignment import align
from training.studies.byte_embeddings.options import AlignmentOptions


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", metavar="VECTORS", help="a build, or a folder of vectors, without spelling")
    parser.add_argument("--misspellings", nargs="+", type=Path, required=True, metavar="FILE")
    parser.add_argument("--fasttext", metavar="MODEL.bin", help="model of fastText, which gensim opens")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="options of the alignment")
    return parser.parse_args()


def fit_network(options: AlignmentOptions) -> Fit:
    """Return the training of a BytesCNN."""

    def fit(words: Sequence[str], units: np.ndarray, counts: np.ndarray) -> Predict:
        embeddings = align(torch.from_numpy(units), words, options)
        return lambda strings: torch.nn.functional.normalize(embeddings.embed(strings), dim=1).numpy()

    return fit


def main() -> None:
    """Measure, and print the tables."""
    chosen = parse_arguments()
    vectors = CipherVectors.load(chosen.vectors)
    if vectors.spelling:
        raise SystemExit(f"{chosen.vectors} depends on the spelling already: make vectors with --spelling-share 0.")
    values = {"size": "small", "loss": "cosine"}
    options = AlignmentOptions.parse(values, apply_settings(values, "the options of the alignment", chosen.set))
    bands = held_out_rows(vectors, seed=0)
    fits = {"mean": fit_mean, "n-grams": fit_spelling, f"BytesCNN {options.size}": fit_network(options)}
    methods = {name: (vectors, fit_without(vectors, bands, fit)) for name, fit in fits.items()}
    print_table(
        ["vectors", "count", "held-out words", "mean cosine"],
        ([name, *row] for name, (_, predict) in methods.items() for row in score_held_out(vectors, bands, predict)),
    )
    if chosen.fasttext:
        methods["fastText"] = FastTextModel.read(chosen.fasttext)
    print_table(
        ["vectors", "list", "misspelled words", "meant word is nearest", "among ten"],
        ([name, *share_of_nearest(path, *each)] for path in chosen.misspellings for name, each in methods.items()),
    )


if __name__ == "__main__":
    main()
