"""Measure what cleaning is worth: vectors from raw and from cleaned web text, with equal numbers of tokens.

    python tests/benchmarks/compare_cleaning.py --texts ../shared/data/{commoncrawl,commoncrawl2,c4,c4_2} \
        --pages ../shared/data/{web_html,commoncrawl,commoncrawl2} \
        --pos ../shared/data/gum --similarity ../shared/data/similarity --seeds 5

Prints Markdown tables with the mean ± standard deviation over seeds. A seed selects other documents and another
initialization of the probe. See README.md.
"""

import argparse
import json
import signal
import sys
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from compare_build import BITCIPHER
from measure import HERE, run, run_script, scratch

RAW = "duplicates: {documents: false, near: null}\n"

HEADER = "| text | documents | vocabulary | shared words | POS accuracy | similarity |\n|---|---|---|---|---|---|"


class Side(NamedTuple):
    """One way to clean a corpus: name in the table, source, and recipe of `bitcipher shard` (None: no rules)."""

    title: str
    source: str
    recipe: str | None


GROUPS: dict[str, dict[str, Side]] = {
    "texts": {
        "raw": Side("WET and C4, as they are", "texts.jsonl", None),
        "rules": Side("WET and C4, cleaned (commoncrawl-wet)", "texts.jsonl", "commoncrawl-wet"),
    },
    "pages": {
        "raw": Side("pages, all text", "page-texts.jsonl", None),
        "main": Side("pages, main content", "pages.warc.gz", None),
        "rules": Side("pages, main content, cleaned (commoncrawl-warc)", "pages.warc.gz", "commoncrawl-warc"),
    },
}


def main() -> None:
    """Clean, build and evaluate each group."""
    parser = argparse.ArgumentParser(description=__doc__)
    path = {"type": lambda given: Path(given).resolve(), "metavar": "PATH", "required": True}
    parser.add_argument("--texts", **path, nargs="+", help="folders of WET files and of JSON lines")
    parser.add_argument("--pages", **path, nargs="+", help="folders of HTML pages and of WARC files")
    parser.add_argument("--pos", **path, help="folder of GUM")
    parser.add_argument("--similarity", **path, help="folder of word pairs")
    parser.add_argument("--seeds", type=int, default=5, help="number of samples and of probes")
    parser.add_argument("--share", type=float, default=0.8, help="tokens of a sample, of those of the smallest side")
    options = parser.parse_args()
    # SIGTERM raises an exception, so that temporary files are removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    for group, sides in GROUPS.items():
        with scratch() as folder:
            run_script("cleaning_corpora.py", "sources", folder, *getattr(options, group), folder=folder)
            documents = {name: clean(side, folder / name) for name, side in sides.items()}
            samples = [evaluate(list(sides), folder, seed, options) for seed in range(options.seeds)]
        print_group(sides, documents, samples)


def clean(side: Side, out: Path) -> int:
    """Make document shards of a side, and return their number of documents."""
    recipe = out.with_suffix(".yaml")
    recipe.write_text(RAW)
    arguments = ["--recipe", side.recipe or recipe, "--max-bad-share", "1", "--out", out]
    run([*BITCIPHER, "shard", out.parent / side.source, *arguments], HERE.parent.parent)
    return json.loads((out / "manifests" / "000001.json").read_text())["accounts"]["kept"]


def evaluate(names: list[str], folder: Path, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Make vectors of a sample of each side, and return the number of tokens and the scores of each side."""
    sampled = run_script("cleaning_corpora.py", "samples", folder, options.share, seed, *names, folder=folder)
    builds = [folder / f"build-{name}-{seed}" for name in names]
    for name, build in zip(names, builds, strict=True):
        run([*BITCIPHER, "build", folder / f"{name}-{seed}.jsonl", "--out", build], HERE.parent.parent)
    scores = run_script("evaluate_cleaning.py", options.pos, options.similarity, seed, *builds, folder=folder)
    return {"tokens": int(sampled.output), "scores": dict(zip(names, json.loads(scores.output), strict=True))}


def print_group(sides: dict[str, Side], documents: dict[str, int], samples: list[dict[str, Any]]) -> None:
    """Print the table of a group."""
    print(f"{samples[0]['tokens']:,} tokens per sample, {len(samples)} samples\n\n{HEADER}")
    for name, side in sides.items():
        scores = [sample["scores"][name] for sample in samples]
        cells = [
            side.title,
            f"{documents[name]:,}",
            *(f"{mean(score[key] for score in scores):,.0f}" for key in ("vocabulary", "shared")),
            *(_with_spread([score[key] for score in scores]) for key in ("pos", "similarity")),
        ]
        print(f"| {' | '.join(cells)} |")
    print(flush=True)


def _with_spread(values: list[float]) -> str:
    return f"{mean(values):.2f} ± {stdev(values):.2f}" if len(values) > 1 else f"{mean(values):.2f}"


if __name__ == "__main__":
    main()
