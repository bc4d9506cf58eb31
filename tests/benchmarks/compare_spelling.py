"""Word similarity with all pairs, also of unknown words and phrases, and analogies: bitcipher and fastText.

Both have the same tokens, vocabulary (words with at least 5 occurrences), window (4) and number of dimensions, and give
a vector to every string. The last row is an interval of the difference, from samples of the pairs: if it contains 0,
the set is too small to tell both apart. The text can be in any language. See README.md.
"""

import argparse
import json
from pathlib import Path
from statistics import mean

from list_quality import table
from measure import run_script
from trained_vectors import METHODS, Trained

COMPARED = ("spectral", "fasttext")


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line, with absolute paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    path = {"type": lambda given: Path(given).resolve(), "metavar": "PATH"}
    parser.add_argument("--data", **path, nargs="+", required=True, help="folders of a corpus")
    parser.add_argument("--keep", **path, required=True, help="folder of `compare_quality.py`; one per corpus")
    parser.add_argument("--vector-size", type=int, default=200, help="number of dimensions")
    parser.add_argument("--similarity", **path, nargs="+", required=True, help="files of word pairs")
    parser.add_argument("--analogies", **path, nargs="+", default=[], help="files of questions")
    return parser.parse_args()


def main() -> None:
    """Train missing vectors, evaluate, and print a Markdown table."""
    options = parse_arguments()
    trained = Trained(options.keep, options.data, None, options.vector_size)
    request = {
        "vectors": [{"method": method, **trained.vectors(method)} for method in COMPARED],
        "similarity": [str(file) for file in options.similarity],
        "analogies": [str(file) for file in options.analogies],
    }
    result = json.loads(run_script("evaluate_spelling.py", json.dumps(request), folder=options.keep).output)
    scores, intervals = result["vectors"], result["intervals"]
    covered, sets = scores[0]["covered"], scores[0]["analogies"]
    header = ["vectors", "CPU", *(f"{name} ({covered[name]:.0f} % known)" for name in covered), "mean", *sets]
    rows = [
        [
            METHODS[each["method"]],
            f"{each['cpu']:,.0f} s",
            *(f"{score:.1f}" for score in each["similarity"].values()),
            f"{mean(each['similarity'].values()):.1f}",
            *(f"{accuracy:.1f}" for accuracy in each["analogies"].values()),
        ]
        for each in scores
    ]
    differences = (f"{low:+.1f} to {high:+.1f}" for low, high in intervals.values())
    rows.append(["difference, 95 % interval", "", *differences, "", *("" for _ in sets)])
    print("\n".join(table(header, rows)))


if __name__ == "__main__":
    main()
