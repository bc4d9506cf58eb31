"""Apply our rules to documents, with the arguments and the output of `clean_datatrove.py`; reasons have our names."""

import json
import sys
import time
from hashlib import sha256
from pathlib import Path

from pipelines.clean.base import Drop
from pipelines.clean.c4 import C4Rule
from pipelines.clean.document import Document
from pipelines.clean.fineweb import FineWebRule
from pipelines.clean.gopher_quality import GopherQualityRule
from pipelines.clean.gopher_repetition import GopherRepetitionRule

RULES = (GopherRepetitionRule(), GopherQualityRule(), C4Rule(), FineWebRule())


def main(path: str) -> None:
    """Clean the documents of a file."""
    texts = [json.loads(line) for line in Path(path).read_text().splitlines()]
    for rule in RULES:
        rule.apply(Document("Load the tokenizer and the kernels before the clock starts. " * 20))
    started = time.process_time()
    outcomes = []
    for text in texts:
        document = Document(text)
        outcomes.append([rule.apply(document) for rule in RULES])
    seconds = time.process_time() - started
    decisions = [[_describe(text, outcome) for outcome in row] for text, row in zip(texts, outcomes, strict=True)]
    print(json.dumps({"seconds": seconds, "decisions": decisions}))


def _describe(text: str, outcome: Document | Drop) -> str:
    if isinstance(outcome, Drop):
        return outcome.reason
    return "" if outcome.text == text else sha256(outcome.text.encode()).hexdigest()[:8]


if __name__ == "__main__":
    main(*sys.argv[1:])
