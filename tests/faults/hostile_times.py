"""CPU time per character of hostile text, as Markdown tables.

PYTHONPATH=.:tests python tests/faults/hostile_times.py [LENGTH ...]

Each step processes one document of each kind of `hostile_text.GROUPS`, at each length (10³ to 10⁶). The fixed time of a
step, measured with a short document, is subtracted. Texts of at most 10⁴ characters are processed three times, and the
shortest time counts. Spaces at the ends are removed, so spaces alone are an empty document.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from hostile_text import GROUPS, hostile_text
from made_archives import http_response, page, warc_record
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from web_pages import page as prose

from pipelines.clean.base import CleaningRule
from pipelines.clean.c4 import C4Rule
from pipelines.clean.document import Document
from pipelines.clean.registry import RULES, load_rules
from pipelines.clean.unicode_repair import UnicodeRule
from pipelines.duplicates.keys import compute_keys
from pipelines.duplicates.options import DuplicateOptions, ParagraphOptions
from pipelines.ingest.readers import ReadOptions, read_chunks
from pipelines.ingest.sources import Source
from pipelines.tokenizers.registry import make_tokenizer

LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
SHORT = "Some words."

Step = Callable[[str], object]


def make_steps(folder: Path) -> dict[str, Step]:
    """Return the steps that process text, by name."""
    (folder / "words.txt").write_text("the\ncat\n")
    required = {"vocabulary": {"path": str(folder / "words.txt")}, "blocklist": {"hosts": ("bad.com",)}}
    rules: list[CleaningRule] = [rule(**required.get(name, {})) for name, rule in RULES.items()]
    rules += [
        C4Rule(require_terminal_punctuation=False, min_sentences=0, min_words_per_line=0),
        UnicodeRule(form="NFKC"),
    ]
    load_rules(rules)
    keys = DuplicateOptions(paragraphs=ParagraphOptions())
    return {
        "spacy": lambda text: make_tokenizer("spacy", True).tokenize(pa.array([text], pa.large_string())),
        "whitespace": lambda text: make_tokenizer("whitespace", True).tokenize(pa.array([text], pa.large_string())),
        "tokenizer.json": _hugging_face(folder),
        "reading": lambda text: _read(
            folder / "a.txt", "text", text.encode(), ReadOptions(document="file", encoding="utf-8")
        ),
        "pages": lambda text: _read(
            folder / "a.warc",
            "warc",
            warc_record("response", http_response(page(text).encode())),
            ReadOptions(max_bad_share=1.0),
        ),
        "cleaning": lambda text: [rule.apply(Document(text)) for rule in rules],
        "duplicates": lambda text: compute_keys(pa.array([text]), 0, keys),
    }


def measure(step: Step, text: str) -> float:
    """Return the CPU seconds of a step."""
    started = time.process_time()
    step(text)
    return time.process_time() - started


def microseconds(step: Step, lengths: tuple[int, ...], fixed: float) -> Iterator[tuple[str, str, list[float]]]:
    """Yield the group, the unit, and the CPU microseconds per character at each length, for all kinds."""
    for group, units in GROUPS.items():
        for unit in units:
            texts = [hostile_text(unit, length).strip() for length in lengths]
            runs = [3 if length <= 10_000 else 1 for length in lengths]
            times = [min(measure(step, text) for _ in range(n)) for text, n in zip(texts, runs, strict=True)]
            seconds = [max(0.0, each - fixed) for each in times]
            yield group, unit, [1e6 * each / length for each, length in zip(seconds, lengths, strict=True)]


def main(*arguments: str) -> None:
    """Print the tables."""
    lengths = tuple(map(int, arguments)) or LENGTHS
    longest: dict[str, dict[str, float]] = {group: {} for group in GROUPS}
    with tempfile.TemporaryDirectory() as folder:
        steps = make_steps(Path(folder))
        print(f"| µs per character, the slowest kind | {' | '.join(f'{each:,}' for each in lengths)} | slowest |")
        print(f"|---|{'---|' * len(lengths)}---|")
        for name, step in steps.items():
            measure(step, SHORT)
            rows = list(microseconds(step, lengths, min(measure(step, SHORT) for _ in range(5))))
            for group in GROUPS:
                longest[group][name] = max(costs[-1] for each, _, costs in rows if each == group)
            slowest = max(rows, key=lambda row: row[2][-1])
            cells = [f"{max(costs[i] for _, _, costs in rows):.1f}" for i in range(len(lengths))]
            print(f"| {name} | {' | '.join(cells)} | `{slowest[1]!r}` |", flush=True)
    print(f"\n| {lengths[-1]:,} characters | kinds | {' | '.join(steps)} |\n|---|---|{'---|' * len(steps)}")
    for group, costs in longest.items():
        print(f"| {group} | {len(GROUPS[group])} | {' | '.join(f'{costs[name]:.2f}' for name in steps)} |")


def _hugging_face(folder: Path) -> Step:
    """Return a step with a byte-level BPE tokenizer of English prose and of hostile text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2_000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    hostile = [hostile_text(unit, 100) for units in GROUPS.values() for unit in units]
    tokenizer.train_from_iterator([*map(prose, range(50)), *hostile], trainer)
    path = str(folder / "tokenizer.json")
    tokenizer.save(path)
    made = make_tokenizer(path, lowercase=False)
    return lambda text: made.tokenize(pa.array([text], pa.large_string()))


def _read(path: Path, kind: str, content: bytes, options: ReadOptions) -> int:
    """Return the number of characters of a source."""
    path.write_bytes(content)
    source = Source(uri=str(path), size=len(content), format=kind)
    return sum(len(chunk.text) for chunk in read_chunks(source, options))


if __name__ == "__main__":
    main(*sys.argv[1:])
