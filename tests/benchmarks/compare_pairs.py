"""Pair counts of whitespace tokens: ours against GloVe's `vocab_count` and `cooccur`."""

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path

from measure import Cost, require_space, run, run_script, scratch, size_of
from ratios import Ratio

WIDE = 100  # windows of at least this size: only summed pairs, and only --wide-runs runs
GOALS = {10: "1/5"}  # by window; 1/4 for others

# Bytes of temporary files of cooccur per byte of text, without and per offset of the window.
SPILL = 10
SPILL_PER_OFFSET = 2


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU, peak memory and file sizes for each window and form."""
    with scratch() as folder:
        text = folder / "text.txt"
        run_script("prepare.py", "words", text, *options.data, folder=folder)
        _count_ours(text, folder / "warm-up", 1, "summed")
        for window in options.window:
            require_space(folder, text.stat().st_size * (SPILL + SPILL_PER_OFFSET * window))
            yield from _compare(text, window, folder, options)


def _compare(text: Path, window: int, folder: Path, options: argparse.Namespace) -> Iterator[Ratio]:
    is_wide = window >= WIDE
    forms = ["summed"] if is_wide else ["positional", "summed"]
    runs = options.wide_runs if is_wide else options.runs
    costs: dict[str, list[Cost]] = {name: [] for name in ("vocab_count", "cooccur", *forms)}
    for number in range(runs):
        work = folder / "run"
        work.mkdir()
        vocabulary, cooccurrences = _count_glove(text, work, window, options.glove)
        costs["vocab_count"].append(vocabulary)
        costs["cooccur"].append(cooccurrences)
        for form in forms:
            costs[form].append(_count_ours(text, work / form, window, form))
        sizes = {form: size_of(work / form) for form in forms}
        their_size = size_of(work / "cooccurrences.bin")
        if number == 0:
            run_script("check_pairs.py", work, *(work / form for form in forms), folder=work)
        shutil.rmtree(work)
    cooccur = [cost.cpu for cost in costs["cooccur"]]
    both = [a + b.cpu for a, b in zip(cooccur, costs["vocab_count"], strict=True)]
    goal = GOALS.get(window, "1/4")
    for form in forms:
        name = f"pairs, window {window}, {form}"
        cpu = [cost.cpu for cost in costs[form]]
        peaks = [[cost.peak for cost in costs[side]] for side in (form, "cooccur")]
        yield Ratio(f"{name}: CPU, against vocab_count and cooccur", cpu, both, "s", goal)
        yield Ratio(f"{name}: CPU, against cooccur alone", cpu, cooccur, "s")
        yield Ratio(f"{name}: peak memory, against cooccur", *peaks, "B", "0.6")
        yield Ratio(f"{name}: files, against cooccur", [sizes[form]], [their_size], "B", "1/8")


def _count_glove(text: Path, work: Path, window: int, programs: Path) -> tuple[Cost, Cost]:
    count = [programs / "vocab_count", "-min-count", 1, "-verbose", 0]
    vocabulary = run(count, work, text, work / "vocab.txt")
    pair = [programs / "cooccur", "-window-size", window, "-distance-weighting", 0, "-symmetric", 1]
    pair += ["-memory", "4.0", "-verbose", 0, "-vocab-file", "vocab.txt"]
    return vocabulary, run(pair, work, text, work / "cooccurrences.bin")


def _count_ours(text: Path, target: Path, window: int, form: str) -> Cost:
    return run_script("count_pairs.py", text, target, window, form, folder=text.parent)
