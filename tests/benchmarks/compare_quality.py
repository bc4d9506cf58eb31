"""Quality against CPU seconds: bitcipher, GloVe, word2vec, fastText and PPMI with SVD on the same text.

All have the same tokens, vocabulary (words with at least 5 occurrences), window (4) and number of dimensions. Trained
vectors are kept with their costs, so an interrupted run resumes. See README.md.
"""

import argparse
import json
import signal
import sys
from pathlib import Path

from measure import run_script
from trained_vectors import METHODS, OURS, Trained


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line, with absolute paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    path = {"type": lambda given: Path(given).resolve(), "metavar": "PATH"}
    parser.add_argument("--data", **path, nargs="+", required=True, help="folders of a corpus")
    parser.add_argument("--keep", **path, required=True, help="folder of trained vectors and costs; one per corpus")
    parser.add_argument("--glove", **path, help="folder of GloVe's programs")
    parser.add_argument("--vector-size", type=int, default=200, help="a multiple of 8, because Cat has 8 blocks")
    parser.add_argument("--pos", **path, required=True, help="folder of GUM")
    parser.add_argument("--ner", **path, required=True, help="folder of CoNLL-2003")
    parser.add_argument("--similarity", **path, required=True, help="folder of word pairs")
    parser.add_argument("--analogies", **path, required=True, help="file of questions")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds per probe")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), help="all by default")
    options = parser.parse_args()
    if options.vector_size % 8:
        parser.error("--vector-size must be a multiple of 8")
    if "glove" in options.methods and options.glove is None:
        parser.error("GloVe needs --glove, the folder of its programs. To skip GloVe, use --methods")
    return options


def main() -> None:
    """Train missing vectors, evaluate all, and print the results."""
    options = parse_arguments()
    # SIGTERM raises an exception, so that child processes are stopped.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    trained = Trained(options.keep, options.data, options.glove, options.vector_size)
    request = {
        "vectors": [
            {"method": method, "title": METHODS[method], "is_ours": method in OURS, **trained.vectors(method)}
            for method in options.methods
        ],
        "pos": str(options.pos),
        "ner": str(options.ner),
        "similarity": str(options.similarity),
        "analogies": str(options.analogies),
        "analogy_words": 300_000,
        "seeds": options.seeds,
    }
    scores, picture = (options.keep / f"quality-{options.vector_size}.{ending}" for ending in ("json", "png"))
    scores.write_text(run_script("evaluate_vectors.py", json.dumps(request), folder=options.keep).output)
    run_script("draw_quality.py", scores, picture, folder=options.keep)
    print(run_script("list_quality.py", scores, folder=options.keep).output, end="")
    print(f"The picture is {picture}.", file=sys.stderr)


if __name__ == "__main__":
    main()
