"""Apply datatrove's filters to documents. Runs in an environment with datatrove and spaCy, not in that of bitcipher.

clean_datatrove.py DOCUMENTS

DOCUMENTS is a file with one JSON string per line. Prints a JSON object: the CPU seconds, and for each document the
decision of each filter on the whole text: "" if it keeps the document, otherwise the reason. The decision of C4 on a
kept document is a digest of its text.
"""

import json
import sys
import time
from hashlib import sha256
from pathlib import Path

from datatrove.data import Document
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
)


def main(path: str) -> None:
    """Filter the documents of a file."""
    texts = [json.loads(line) for line in Path(path).read_text().splitlines()]
    filters = [GopherRepetitionFilter(), GopherQualityFilter(), C4QualityFilter(), FineWebQualityFilter()]
    filters[0].filter(Document(text="Load the tokenizer of spaCy before the clock starts.", id=""))
    decisions = []
    started = time.process_time()
    for text in texts:
        outcomes = []
        for rule in filters:
            document = Document(text=text, id="")
            outcome = rule.filter(document)
            outcomes.append((outcome if isinstance(outcome, tuple) else (outcome, ""), document.text))
        decisions.append(outcomes)
    seconds = time.process_time() - started
    digests = [
        [reason or _digest(text, kept) for (_, reason), kept in outcomes]
        for text, outcomes in zip(texts, decisions, strict=True)
    ]
    print(json.dumps({"seconds": seconds, "decisions": digests}))


def _digest(text: str, kept: str) -> str:
    return "" if kept == text else sha256(kept.encode()).hexdigest()[:8]


if __name__ == "__main__":
    main(*sys.argv[1:])
