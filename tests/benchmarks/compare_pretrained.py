"""Quality of vectors that exist already, such as a build and downloaded vectors, on the words that all of them have.

Prints the tables of `compare_quality.py`, without costs. See README.md.
"""

import argparse
import json
import tempfile
from pathlib import Path

from list_quality import similarity_table, summary_table
from measure import run_script


def named(argument: str) -> dict[str, object]:
    """Return the fields of one table of vectors in the request of `evaluate_vectors.py`, from TITLE=PATH."""
    title, _, path = argument.partition("=")
    if not (title and path):
        raise argparse.ArgumentTypeError("must be TITLE=PATH")
    return {"method": title, "title": title, "is_ours": False, "uri": absolute(path), "cpu": None, "peak": None}


def absolute(path: str) -> str:
    """Return the absolute path, because the evaluation runs in a temporary directory."""
    return str(Path(path).resolve())


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=named, nargs="+", required=True, metavar="TITLE=PATH", help="all vectors")
    parser.add_argument("--pos", type=absolute, required=True, metavar="PATH", help="folder of GUM")
    parser.add_argument("--ner", type=absolute, required=True, metavar="PATH", help="folder of CoNLL-2003")
    parser.add_argument("--similarity", type=absolute, required=True, metavar="PATH", help="folder of word pairs")
    parser.add_argument("--analogies", type=absolute, required=True, metavar="PATH", help="file of questions")
    parser.add_argument("--analogy-words", type=int, default=300_000, help="number of words in the analogies")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds per probe")
    return parser.parse_args()


def main() -> None:
    """Evaluate and print."""
    request = vars(parse_arguments())
    with tempfile.TemporaryDirectory() as folder:
        scores = json.loads(run_script("evaluate_vectors.py", json.dumps(request), folder=Path(folder)).output)
    print(f"{scores['words']:,} words, {scores['seeds']} seeds\n")
    print("\n".join([*summary_table(scores), "", *similarity_table(scores)]))


if __name__ == "__main__":
    main()
