"""Run the comparisons and print their results as a Markdown table; progress goes to stderr. See README.md.

Without names, all comparisons run whose peers are there. An error in one does not stop the others.
"""

import argparse
import signal
import sys
import traceback
from pathlib import Path

import compare_build
import compare_checks
import compare_clean
import compare_duplicates
import compare_embed
import compare_pairs
import compare_product
import compare_ray
import compare_shard
import compare_shard_workers
import compare_tokens
import compare_training
import compare_update
import measure_memory
from machine import describe_run
from peers import missing_peer
from result_file import Outcome, ResultFile, table_lines

COMPARISONS = {
    "pairs": compare_pairs,
    "tokens": compare_tokens,
    "clean": compare_clean,
    "product": compare_product,
    "build": compare_build,
    "embed": compare_embed,
    "update": compare_update,
    "checks": compare_checks,
    "ray": compare_ray,
    "training": compare_training,
    "duplicates": compare_duplicates,
    "memory": measure_memory,
    "shard": compare_shard,
    "shard-workers": compare_shard_workers,
}

# Options that results depend on, beside the corpora.
SETTINGS = ("runs", "wide_runs", "window", "documents", "gigabytes", "long_megabytes")

ERROR_CHARACTERS = 500


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line, with absolute paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(COMPARISONS)}; all by default")
    parser.add_argument(
        "--data", type=Path, nargs="+", default=[Path("../shared/data/gutenberg")], help="folders of a corpus"
    )
    parser.add_argument("--results", type=Path, help="file of JSON lines; the same command with the same file resumes")
    parser.add_argument("--glove", type=Path, help="folder of vocab_count and cooccur, for pairs")
    parser.add_argument(
        "--datatrove", type=Path, help="Python of an environment with datatrove, for clean, duplicates and shard"
    )
    parser.add_argument("--web", type=Path, nargs="+", default=[], help="pages and texts, for shard and shard-workers")
    parser.add_argument("--runs", type=int, default=5, help="paired runs of each comparison")
    parser.add_argument(
        "--wide-runs", type=int, default=1, help="number of runs of pairs with a window of at least 100"
    )
    parser.add_argument("--window", type=int, nargs="+", default=[4, 10, 128], help="windows of pairs")
    parser.add_argument(
        "--documents", type=int, default=10_000, help="documents of shard in WET and C4's form; 15 %% as many pages"
    )
    parser.add_argument("--gigabytes", type=float, default=2.5, help="GB of uncompressed WARC files of shard-workers")
    parser.add_argument("--long-megabytes", type=int, default=700, help="MB of text of memory")
    options = parser.parse_args()
    options.data = [folder.resolve() for folder in options.data]
    options.web = [folder.resolve() for folder in options.web]
    options.glove = options.glove and options.glove.resolve()
    # The Python of a virtual environment is a link, and knows its environment only by the path of the link.
    options.datatrove = options.datatrove and options.datatrove.absolute()
    if unknown := set(options.names) - set(COMPARISONS):
        parser.error(f"there is no comparison {', '.join(sorted(unknown))}")
    for name in options.names:
        if missing := missing_peer(name, options):
            parser.error(f"{name} needs {missing}")
    return options


def compare(name: str, options: argparse.Namespace) -> Outcome:
    """Run one comparison. Its error is part of the outcome, with the figures that were there before it."""
    figures = []
    try:
        figures.extend(COMPARISONS[name].figures(options))
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        return Outcome(name, figures, " ".join(f"{type(error).__name__}: {error}".split())[:ERROR_CHARACTERS])
    return Outcome(name, figures)


def main() -> None:
    """Run the comparisons that the command line names, and exit with 1 if one of them failed."""
    options = parse_arguments()
    # SIGTERM raises KeyboardInterrupt, so that temporary files are removed and no other comparison starts.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    described = {name: " ".join(folder.name for folder in getattr(options, name)) for name in ("data", "web")}
    described |= {name: str(getattr(options, name)) for name in SETTINGS}
    results = ResultFile(options.results, {**describe_run(), "options": described})
    skipped = []
    for name in options.names or COMPARISONS:
        if missing := missing_peer(name, options):
            skipped.append(f"Skipped: {name} needs {missing}.")
        elif name not in results.outcomes or results.outcomes[name].error:
            results.add(compare(name, options))
    print("\n".join([*table_lines(results.run, results.outcomes), *skipped]))
    sys.exit(any(outcome.error for outcome in results.outcomes.values()))


if __name__ == "__main__":
    main()
