"""Run the comparisons and print their results as a Markdown table; progress goes to stderr. See README.md."""

import argparse
import signal
import sys
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
from ratios import HEADER

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


def main() -> None:
    """Run the comparisons that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(COMPARISONS)}; all by default")
    parser.add_argument(
        "--data", type=Path, nargs="+", default=[Path("../shared/data/gutenberg")], help="folders of a corpus"
    )
    parser.add_argument("--glove", type=Path, help="folder of vocab_count and cooccur, for pairs")
    parser.add_argument(
        "--datatrove", type=Path, help="Python of an environment with datatrove, for clean, duplicates and shard"
    )
    parser.add_argument("--runs", type=int, default=5, help="paired runs of each comparison")
    parser.add_argument(
        "--wide-runs", type=int, default=1, help="number of runs of pairs with a window of at least 100"
    )
    parser.add_argument("--window", type=int, nargs="+", default=[4, 10, 128], help="windows of pairs")
    parser.add_argument(
        "--documents", type=int, default=10_000, help="documents of shard in WET and C4's form; 15 %% as many pages"
    )
    parser.add_argument("--gigabytes", type=float, default=2.5, help="GB of uncompressed WARC files of shard-workers")
    options = parser.parse_args()
    options.data = [data.resolve() for data in options.data]
    options.glove = options.glove and options.glove.resolve()
    # The Python of a virtual environment is a link, and knows its environment only by the path of the link.
    options.datatrove = options.datatrove and options.datatrove.absolute()
    if unknown := set(options.names) - set(COMPARISONS):
        parser.error(f"there is no comparison {', '.join(sorted(unknown))}")
    # SIGTERM raises an exception, so that temporary files are removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    print(HEADER, flush=True)
    for name in options.names or COMPARISONS:
        for figure in COMPARISONS[name].figures(options):
            print(figure.row(), flush=True)


if __name__ == "__main__":
    main()
