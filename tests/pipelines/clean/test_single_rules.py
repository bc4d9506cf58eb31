"""Rules on Unicode, languages, lengths, hosts, personal data and vocabularies: known answers."""

import itertools
from pathlib import Path
from typing import Literal

import ftfy
import pytest
from ftfy.badness import is_bad
from hypothesis import example, given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.clean.base import CleaningRule, Drop
from pipelines.clean.blocklist import BlocklistRule
from pipelines.clean.document import Document
from pipelines.clean.language import LanguageRule
from pipelines.clean.length import LengthRule
from pipelines.clean.personal_data import PersonalDataRule
from pipelines.clean.unicode_repair import TYPOGRAPHIC, UnicodeRule, repair
from pipelines.clean.vocabulary import VocabularyRule

ENGLISH = "The cat sat on the mat, and the dog ran after it until both of them were tired."
ARABIC = "جلس القط على السجادة وركض الكلب خلفه حتى تعب كلاهما من اللعب في الحديقة."


def kept(rule: CleaningRule, document: Document) -> bool:
    outcome = rule.apply(document)
    assert isinstance(outcome, Drop) or outcome is document
    return outcome is document


@pytest.mark.parametrize(
    ("text", "form", "repaired"),
    [
        ("cafÃ© â€œquotedâ€\x9d", "NFC", "café “quoted”"),
        ("cafe\u0301 ﬁne １", "NFC", "caf\u00e9 ﬁne １"),
        ("cafe\u0301 ﬁne １", "NFKC", "caf\u00e9 fine 1"),
        ("one\r\ntwo\u2028three", "NFC", "one\ntwo\nthree"),
        ("a &amp; b", "NFC", "a & b"),
        ("a &amp; b <c>", "NFC", "a &amp; b <c>"),
        ("\ufeffa\x00b\ud800", "NFC", "ab\ufffd"),
    ],
)
def test_unicode_repairs(text: str, form: str, repaired: str):
    outcome = UnicodeRule(form=form).apply(Document(text, url="u"))
    assert (outcome.text, outcome.url) == (repaired, "u")


def test_plain_text_is_the_same_document():
    assert kept(UnicodeRule(), Document("Plain text, “quoted”.\n\tIts second line – here."))


PARTS = [
    "plain",
    "\n",
    "\n\n",
    "&amp;",
    "&lt;",
    "<",
    "é",
    "Ã©",
    "â€™",
    "’",
    "“",
    "–",
    "\x1b[1m",
    "\r\n",
    "\ufb01",
    "Ã ",
    " ",
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PARTS)).map("".join)), st.sampled_from(["NFC", "NFKC"]))
@example("a\r", "NFC")
def test_skipping_lines_does_not_change_the_repair(text: str, form: Literal["NFC", "NFKC"]):
    config = ftfy.TextFixerConfig(
        fix_latin_ligatures=False, fix_character_width=False, uncurl_quotes=False, normalization=form, explain=False
    )
    assert repair(text, form) == ftfy.fix_text(text, config)


def test_typographic_punctuation_is_never_a_reason_for_repair():
    characters = [*map(chr, range(0x20, 0x7F)), "\t", *TYPOGRAPHIC]
    for first in characters:
        assert not is_bad("".join(first + second + third for second, third in itertools.product(characters, repeat=2)))


def test_language_keeps_and_notes():
    outcome = LanguageRule(languages=("en", "de")).apply(Document(ENGLISH))
    assert isinstance(outcome, Document)
    assert (outcome.text, outcome.language) == (ENGLISH, "en")
    assert LanguageRule(languages=("en",)).apply(Document(ARABIC)) == Drop("language")
    anything = LanguageRule(min_score=0.0).apply(Document(ARABIC))
    assert isinstance(anything, Document)
    assert anything.language == "ar"


def test_uncertain_languages_are_dropped():
    assert LanguageRule(languages=(), min_score=0.9).apply(Document("12 34")) == Drop("uncertain language")


def test_language_reads_the_start_of_a_text():
    text = ENGLISH + ARABIC * 20
    assert isinstance(LanguageRule(languages=("en",), max_characters=len(ENGLISH)).apply(Document(text)), Document)
    assert LanguageRule(languages=("en",)).apply(Document(text)) == Drop("language")


def test_an_unknown_language_is_named_when_the_rule_is_loaded():
    with pytest.raises(BitcipherError, match=r"'english'.*en"):
        LanguageRule(languages=("english",)).load()
    LanguageRule(languages=("en", "ar")).load()


@pytest.mark.slow
def test_accuracy_of_languages():
    path = Path("../shared/data/lid/tatoeba_long_84lang.tsv")
    codes = {"iw": "he", "jw": "jv", "zh-Hant": "zh"}  # of CLD2, where they differ from ISO 639
    rows = [line.split("\t") for line in path.read_text().rstrip("\n").split("\n")[1:]]
    outcomes = [(codes.get(row[0], row[0]), LanguageRule(min_score=0.0).apply(Document(row[3]))) for row in rows]
    known = {code for code, _ in outcomes} - {"ceb", "chr", "ny", "su", "xx-Goth", "xx-Xsux", "yi"}
    right = [isinstance(got, Document) and got.language == code for code, got in outcomes if code in known]
    assert len(right) == 429
    assert sum(right) / len(right) > 0.97


def test_bounds_of_lengths():
    document = Document("one two,  three")
    assert kept(LengthRule(min_words=3, max_words=3, min_characters=15, max_characters=15), document)
    assert LengthRule(min_words=4).apply(document) == Drop("too few words")
    assert LengthRule(max_words=2).apply(document) == Drop("too many words")
    assert LengthRule(min_characters=16).apply(document) == Drop("too few characters")
    assert LengthRule(max_characters=14).apply(document) == Drop("too many characters")


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_bounds_of_lengths_are_in_order(unit: str):
    with pytest.raises(BitcipherError, match=f"`min_{unit}` must be at most `max_{unit}`, got 3 and 2"):
        LengthRule(**{f"min_{unit}": 3, f"max_{unit}": 2})


@pytest.mark.parametrize(
    ("url", "is_kept"),
    [
        ("https://bad.com/page", False),
        ("https://WWW.Bad.com:8080/page", False),
        ("http://user@a.b.bad.com.", False),
        ("https://notbad.com", True),
        ("https://bad.com.example", True),
        ("https://com", True),
        ("https://worse.org/bad.com", False),
        ("https://better.org/?bad.com", True),
        ("bad.com", True),
        ("http://[bad.com", True),
        ("", True),
    ],
)
def test_blocked_hosts(tmp_path: Path, url: str, is_kept: bool):
    (tmp_path / "hosts.txt").write_text("# hosts\n\n worse.ORG \n")
    rule = BlocklistRule(hosts=(".Bad.com",), path=str(tmp_path / "hosts.txt"))
    assert kept(rule, Document("text", url)) == is_kept


def test_mistakes_in_blocklists(tmp_path: Path):
    with pytest.raises(BitcipherError, match="`hosts` or `path`"):
        BlocklistRule()
    with pytest.raises(BitcipherError, match=r"missing\.txt"):
        BlocklistRule(path=str(tmp_path / "missing.txt")).load()
    (tmp_path / "empty.txt").write_text("# no hosts\n")
    with pytest.raises(BitcipherError, match=r"empty\.txt contains no hosts"):
        BlocklistRule(path=str(tmp_path / "empty.txt")).load()


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to anna.b-c+d@mail.example.co.uk.", "Write to email@example.com."),
        ("سلام anna@web.de، شكرا", "سلام email@example.com، شكرا"),
        ("Server 8.8.8.8, port 1", "Server 192.0.2.1, port 1"),
        ("Call +49 (30) 1234-5678 now", "Call +1 202-555-0100 now"),
        ("Call (212) 736-5000.", "Call +1 202-555-0100."),
        ("Call 212-736-5000, or 1 212.736.5000", "Call +1 202-555-0100, or +1 202-555-0100"),
    ],
)
def test_personal_data_is_replaced(text: str, masked: str):
    outcome = PersonalDataRule().apply(Document(text))
    assert outcome.text == masked
    assert kept(PersonalDataRule(), outcome)


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1 192.168.0.1 10.1.2.3",
        "999.1.1.1",
        "1.2.3.4.5",
        "2020-11-22",
        "3,141,592.65",
        "@anna and a@b",
        "No. 1234567",
    ],
)
def test_other_text_is_not_personal_data(text: str):
    assert kept(PersonalDataRule(), Document(text))


def test_only_the_given_kinds_are_replaced():
    text = "a@b.com 8.8.8.8 +49 30 1234567"
    assert PersonalDataRule(kinds=("ip",)).apply(Document(text)).text == "a@b.com 192.0.2.1 +49 30 1234567"
    with pytest.raises(BitcipherError, match="kinds"):
        PersonalDataRule(kinds=())


def test_share_of_known_words(tmp_path: Path):
    (tmp_path / "words.txt").write_text("the\ncat\nwell\nknown\n")
    rule = VocabularyRule(path=str(tmp_path / "words.txt"), min_known_words=0.75)
    assert kept(rule, Document("The well-known zebra: 5!"))
    assert rule.apply(Document("The cat, zebra")) == Drop("unknown words")
    assert kept(rule, Document("12 !"))
    with pytest.raises(BitcipherError, match=r"missing\.txt"):
        VocabularyRule(path=str(tmp_path / "missing.txt")).load()
