"""Tokenization: ours against spaCy's own tokenizer, which must give the same tokens."""

import argparse
from collections.abc import Iterator

from measure import run_script, scratch
from ratios import Ratio

SCRIPTS = ("tokenize_ours.py", "tokenize_spacy.py")
STREAMS = (1, 4, 8)  # numbers of passes over the corpus, each with different text


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare tokens, CPU and peak memory, and measure how memory grows with the length of a stream."""
    with scratch() as folder:
        shards = folder / "shards"
        run_script("prepare.py", "shards", shards, *options.data, folder=folder)
        outputs = [run_script(script, shards, "digests", folder=folder).output.split() for script in SCRIPTS]
        differing = sum(ours != theirs for ours, theirs in zip(*outputs, strict=True))
        yield Ratio("tokens: documents whose tokens differ, of all", [differing], [len(outputs[0])], "", "0")
        runs = [[run_script(script, shards, folder=folder) for script in SCRIPTS] for _ in range(options.runs)]
        cpu = ([cost.cpu for cost in costs] for costs in zip(*runs, strict=True))
        yield Ratio("tokens: CPU, against spaCy", *cpu, "s", "1/9")
        peaks = ([cost.peak for cost in costs] for costs in zip(*runs, strict=True))
        yield Ratio("tokens: peak memory, against spaCy", *peaks, "B")
        streams = [run_script("tokenize_ours.py", shards, passes, folder=folder).peak for passes in STREAMS]
    for i in range(1, len(STREAMS)):
        name = f"tokens: peak memory of {STREAMS[i]} times the text, against {STREAMS[i - 1]}"
        yield Ratio(name, [streams[i]], [streams[i - 1]], "B", "bounded")
