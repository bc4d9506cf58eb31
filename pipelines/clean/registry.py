"""All rules by name, and cleaning of a document by a list of rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field

from bitcipher.errors import BitcipherError
from bitcipher.files.records import FROM_LIST
from pipelines.clean.base import CleaningRule, Drop
from pipelines.clean.blocklist import BlocklistRule
from pipelines.clean.c4 import C4Rule
from pipelines.clean.document import Document
from pipelines.clean.fineweb import FineWebRule
from pipelines.clean.gopher_quality import GopherQualityRule
from pipelines.clean.gopher_repetition import GopherRepetitionRule
from pipelines.clean.language import LanguageRule
from pipelines.clean.length import LengthRule
from pipelines.clean.personal_data import PersonalDataRule
from pipelines.clean.unicode_repair import UnicodeRule
from pipelines.clean.vocabulary import VocabularyRule

_Rule = (
    UnicodeRule
    | BlocklistRule
    | LanguageRule
    | LengthRule
    | GopherRepetitionRule
    | GopherQualityRule
    | C4Rule
    | FineWebRule
    | VocabularyRule
    | PersonalDataRule
)

RULES: dict[str, type[CleaningRule]] = {rule.model_fields["rule"].default: rule for rule in get_args(_Rule)}


def parse_rule(value: Any) -> Any:
    """Return the rule of plain values, such as {"rule": "language", "languages": ["en"]}. Other values are returned.

    Raises:
        ValueError: if the values name no rule, or have an unknown or invalid option. The message names the choices.
    """
    if not isinstance(value, dict):
        return value
    name = value.get("rule")
    if not isinstance(name, str) or name not in RULES:
        got = f"there is no rule {name!r}" if "rule" in value else "a rule has no name in `rule`"
        raise ValueError(f"{got}; choose from {', '.join(RULES)}.")
    try:
        return RULES[name].parse(value, f"rule {name}")
    except BitcipherError as error:
        raise ValueError(str(error)) from None


AnyRule = Annotated[_Rule, Field(discriminator="rule"), BeforeValidator(parse_rule)]
"""Type of a field that holds a rule."""
Rules = Annotated[tuple[AnyRule, ...], FROM_LIST]
"""Type of a field that holds a list of rules, such as `- {rule: language, languages: [en]}` in YAML."""


@dataclass(frozen=True, slots=True)
class CleanedDocument:
    """Result of cleaning a document.

    Attributes:
        outcome: the document, or the reason why it is dropped.
        dropped_by: position of the rule that dropped the document in the list of rules, or None.
        changed_by: positions of the rules that changed the text, also if a later rule dropped the document.
    """

    outcome: Document | Drop
    dropped_by: int | None
    changed_by: tuple[int, ...]


def clean(document: Document, rules: Sequence[CleaningRule]) -> CleanedDocument:
    """Apply rules in order, until one drops the document.

    Args:
        document: the document.
        rules: rules. If they need files, call `load_rules` first to find mistakes early.
    """
    changed_by = []
    for position, rule in enumerate(rules):
        outcome = rule.apply(document)
        if isinstance(outcome, Drop):
            return CleanedDocument(outcome, position, tuple(changed_by))
        if outcome.text is not document.text:
            changed_by.append(position)
        document = outcome
    return CleanedDocument(document, None, tuple(changed_by))


def load_rules(rules: Sequence[CleaningRule]) -> None:
    """Load the files and models that rules need.

    Raises:
        BitcipherError: if a file is missing or has no content that its rule can use, or if an option does not fit a
            model.
    """
    for rule in rules:
        rule.load()
