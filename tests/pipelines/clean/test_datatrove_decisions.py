"""The rules of Gopher, C4 and FineWeb decide as datatrove 0.10 does, whose decisions are stored.

`datatrove_decisions.json` is the output of `tests/benchmarks/clean_datatrove.py` for `make_documents(500)`.
"""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

from made_documents import make_documents

from pipelines.clean.base import CleaningRule, Drop
from pipelines.clean.c4 import C4Rule
from pipelines.clean.document import Document
from pipelines.clean.fineweb import FineWebRule
from pipelines.clean.gopher_quality import GopherQualityRule
from pipelines.clean.gopher_repetition import GopherRepetitionRule

RULES = (GopherRepetitionRule(), GopherQualityRule(), C4Rule(), FineWebRule())

# Reasons of datatrove by ours.
REASONS = {
    "empty": "empty",
    "repeated paragraphs": "dup_para_frac",
    "characters in repeated paragraphs": "dup_para_char_frac",
    "repeated lines": "dup_line_frac",
    **{f"most frequent {n}-gram": f"top_{n}_gram" for n in (2, 3, 4)},
    **{f"repeated {n}-grams": f"duplicated_{n}_n_grams" for n in range(5, 11)},
    "too few words": "gopher_short_doc",
    "short words": "gopher_below_avg_threshold",
    "long words": "gopher_above_avg_threshold",
    "hash signs": "gopher_too_many_hashes",
    "ellipses": "gopher_too_many_ellipsis",
    "bullet lines": "gopher_too_many_bullets",
    "lines that end with an ellipsis": "gopher_too_many_end_ellipsis",
    "words without letters": "gopher_below_alpha_threshold",
    "too few stop words": "gopher_enough_stop_words",
    "too few sentences": "too_few_sentences",
    "lorem ipsum": "lorem_ipsum",
    "curly bracket": "curly_bracket",
    "lines without terminal punctuation": "line_punct_ratio",
    "short lines": "short_line_ratio",
    "line breaks": "list_ratio",
}
REPEATED_CHARACTERS = {"gopher_repetition": "dup_line_char_frac", "fineweb": "char_dup_ratio"}


def decide(rule: CleaningRule, text: str) -> str:
    """Return the decision in datatrove's terms: "" for a kept document, a digest of its changed text, or a reason."""
    outcome = rule.apply(Document(text))
    if isinstance(outcome, Document):
        return "" if outcome.text == text else sha256(outcome.text.encode()).hexdigest()[:8]
    if outcome == Drop("characters in repeated lines"):
        return REPEATED_CHARACTERS[rule.rule]
    return REASONS[outcome.reason]


def test_decisions_reasons_and_texts_are_those_of_datatrove():
    theirs = json.loads(Path(__file__).with_name("datatrove_decisions.json").read_text())
    ours = [[decide(rule, text) for rule in RULES] for text in make_documents(len(theirs))]
    assert ours == theirs


def test_the_stored_decisions_have_many_reasons():
    theirs = json.loads(Path(__file__).with_name("datatrove_decisions.json").read_text())
    counts = Counter(decision for row in theirs for decision in row)
    known = {*REASONS.values(), *REPEATED_CHARACTERS.values()}
    assert len(counts.keys() & known) >= 20
    assert sum(counts[reason] for reason in known) >= len(theirs) // 2
    assert counts[""] >= len(theirs)
