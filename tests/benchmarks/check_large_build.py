"""Plan the build of a large corpus from its first twentieth, build it, and compare.

    python tests/benchmarks/make_corpus.py --data books ../shared/data/enwiki --tokens 1e9 --out corpus
    python tests/benchmarks/check_large_build.py corpus --workers 2 --out billion

Prints two Markdown tables: the cost of the build with the memory of its processes, and planned and measured values.
The build stays in --out. Linux only.
"""

import argparse
import json
from pathlib import Path

from compare_build import BITCIPHER
from measure import report_of, run_script, scratch, size_of
from sampled_run import COST_COLUMNS, run_sampled

MEMORY_MIB = 1500  # the default of a build


def main() -> None:
    """Plan, build, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", help="folders of the corpus")
    parser.add_argument("--out", type=Path, required=True, help="folder of the build, which must not exist")
    parser.add_argument("--workers", type=int, default=2, help="workers on Ray; 0 is in process")
    parser.add_argument("--memory-mib", type=int, default=MEMORY_MIB, help="memory of the driver and each worker")
    parser.add_argument("--mode", default="spectral", help="mode of the vectors")
    parser.add_argument("--share", type=float, default=20, help="the plan uses the first 1 / SHARE of the corpus")
    parser.add_argument("--sample-megabytes", type=float, default=64, help="MB of text that the plan counts")
    options = parser.parse_args()
    data, out = [folder.resolve() for folder in options.data], options.out.resolve()
    if out.exists():
        parser.error(f"{out} exists")
    sample = (options.share, options.sample_megabytes, options.workers, options.memory_mib, options.mode)
    with scratch() as folder:
        planned = json.loads(run_script("plan_from_first.py", *sample, *data, folder=folder).output)
        settings = ("--workers", options.workers, "--memory-mib", options.memory_mib, "--mode", options.mode)
        cost = run_sampled([*BITCIPHER, "build", *data, "--out", out, *settings])
        print(f"| workers | budget | {' | '.join(COST_COLUMNS)} | disk |\n|{'---|' * (len(COST_COLUMNS) + 3)}")
        budget = f"{(options.memory_mib << 20) / 1e6:,.0f} MB"
        cells = [str(options.workers), budget, *cost.cells(), f"{size_of(out) / 1e6:,.0f} MB"]
        print(f"| {' | '.join(cells)} |\n", flush=True)  # what follows can take as long as the merges did
        measured = json.loads(run_script("measured_build.py", out, folder=folder).output)
    measured["wall seconds"] = report_of(out)["seconds"]
    print("| | planned | range | measured | planned / measured |\n|---|---|---|---|---|")
    for name, real in measured.items():
        low, point, high = (f"{planned[bound][name]:,.0f}" for bound in ("low", "point", "high"))
        ratio = f"{planned['point'][name] / real:.2f}" if real else "–"
        print(f"| {name} | {point} | {low} – {high} | {real:,.0f} | {ratio} |")


if __name__ == "__main__":
    main()
