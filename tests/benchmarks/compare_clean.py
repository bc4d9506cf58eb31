"""Cleaning rules of Gopher, C4 and FineWeb: ours against datatrove's filters, which must keep the same texts."""

import argparse
import json
from collections.abc import Iterator
from typing import Any

from measure import HERE, run, run_script, scratch
from ratios import Ratio

RULES = ("gopher_repetition", "gopher_quality", "c4", "fineweb")


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare the decisions of each rule, and the CPU seconds of all rules without the start of the process."""
    with scratch() as folder:
        texts = folder / "documents.jsonl"
        run_script("prepare.py", "documents", texts, *options.data, folder=folder)
        runs: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for _ in range(options.runs):
            ours = run_script("clean_ours.py", texts, folder=folder)
            theirs = run([options.datatrove, HERE / "clean_datatrove.py", texts], folder)
            runs.append((json.loads(ours.output), json.loads(theirs.output)))
    ours, theirs = ([_kept(row) for row in side["decisions"]] for side in runs[0])
    for index, rule in enumerate(RULES):
        differing = sum(mine[index] != other[index] for mine, other in zip(ours, theirs, strict=True))
        yield Ratio(f"{rule}: documents with another decision or text, of all", [differing], [len(ours)], "", "0")
    seconds = ([side["seconds"] for side in sides] for sides in zip(*runs, strict=True))
    yield Ratio("cleaning rules: CPU, against datatrove", *seconds, "s", "1/4")


def _kept(decisions: list[str]) -> list[str]:
    """Return decisions without the names of reasons: "" for a kept text, a digest of a changed text, else "dropped"."""
    return [each if each == "" or _is_digest(each) else "dropped" for each in decisions]


def _is_digest(decision: str) -> bool:
    return len(decision) == 8 and set(decision) <= set("0123456789abcdef")
