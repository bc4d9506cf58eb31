"""Lists of rules: parsing, errors, cleaning with all rules, and texts of any kind."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from made_documents import make_documents

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record, describe_fields
from pipelines.clean.base import CleaningRule, Drop
from pipelines.clean.c4 import C4Rule
from pipelines.clean.document import Document
from pipelines.clean.fineweb import FineWebRule
from pipelines.clean.gopher_quality import GopherQualityRule
from pipelines.clean.language import LanguageRule
from pipelines.clean.length import LengthRule
from pipelines.clean.registry import RULES, Rules, clean, load_rules
from pipelines.clean.unicode_repair import UnicodeRule

RECIPES = sorted(Path("pipelines/recipes/shard").glob("*.yaml"))


class CleanOptions(Record):
    rules: Rules = ()


def parse(text: str) -> tuple[CleaningRule, ...]:
    return CleanOptions.parse(yaml.safe_load(text), "recipe.yaml").rules


def test_rules_are_parsed_and_written():
    text = "rules:\n- {rule: language, languages: [en], min_score: 0.65}\n- {rule: unicode, form: NFKC}\n- rule: c4"
    rules = parse(text)
    assert rules == (LanguageRule(languages=("en",), min_score=0.65), UnicodeRule(form="NFKC"), C4Rule())
    options = CleanOptions(rules=rules)
    assert CleanOptions.parse(options.to_dict()) == options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: [{rule: gopher}]", r"recipe.yaml: there is no rule 'gopher'; choose from unicode, .*gopher_quality"),
        ("rules: [{rule: [c4]}]", r"there is no rule \['c4'\]; choose from"),
        ("rules: [{min_words: 3}]", "no name in `rule`; choose from"),
        ("rules: [{rule: c4, min_words: 3}]", r"rule c4: there is no option `min_words`; choose from .*min_sentences"),
        ("rules: [{rule: c4, min_sentences: many}]", "rule c4: `min_sentences` must be an integer, got 'many'"),
        ("rules: [{rule: fineweb, max_short_lines: 2}]", "rule fineweb: `max_short_lines` must be .*, got 2"),
        ("rules: [{rule: unicode, form: NFD}]", "rule unicode: `form` must be NFC or NFKC, got 'NFD'"),
        ("rules: [{rule: vocabulary}]", "rule vocabulary: `path` is missing"),
        ("rules: [c4]", "must be a mapping, got 'c4'"),
        ("rules: c4", "`rules` must be a list"),
    ],
)
def test_mistakes_are_one_sentence_with_the_choices(text: str, message: str):
    with pytest.raises(BitcipherError, match=message) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


def test_each_rule_has_help_for_each_option():
    for name, rule in RULES.items():
        assert rule.model_fields["rule"].default == name
        assert describe_fields(rule).keys() == rule.model_fields.keys(), name


def test_clean_tells_which_rules_changed_and_dropped():
    rules = (UnicodeRule(), C4Rule(min_sentences=1), LengthRule(min_words=4))
    kept = clean(Document("Menu\nThis is a\x00 café."), rules)
    assert isinstance(kept.outcome, Document)
    assert (kept.outcome.text, kept.dropped_by, kept.changed_by) == ("This is a café.", None, (0, 1))
    dropped = clean(Document("Menu\nThis is prose."), rules)
    assert (dropped.outcome, dropped.dropped_by, dropped.changed_by) == (Drop("too few words"), 2, (1,))
    same = Document("This is good prose.")
    assert clean(same, rules).outcome is same
    assert clean(same, ()).outcome is same


def test_a_noted_language_is_no_change_of_the_text():
    result = clean(Document("The cat sat on the mat, and the dog ran after it."), (LanguageRule(),))
    assert isinstance(result.outcome, Document)
    assert (result.outcome.language, result.changed_by) == ("en", ())


def test_derived_values_follow_the_text():
    document = Document("one two\nthree", url="https://Example.com./x")
    assert (len(document.words), document.lines, document.host) == (3, ["one two", "three"], "example.com")
    assert document.words is document.words
    other = document.with_language("en")
    assert other.words is document.words
    changed = document.with_text("four")
    assert (len(changed.words), changed.lines, changed.url) == (1, ["four"], document.url)


def all_rules(folder: Path) -> list[CleaningRule]:
    (folder / "words.txt").write_text("the\ncat\n")
    required = {"vocabulary": {"path": str(folder / "words.txt")}, "blocklist": {"hosts": ("bad.com",)}}
    return [rule(**required.get(name, {})) for name, rule in RULES.items()] + [
        C4Rule(require_terminal_punctuation=False, min_sentences=0, min_words_per_line=0),
        UnicodeRule(form="NFKC"),
    ]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> list[CleaningRule]:
    rules = all_rules(tmp_path_factory.mktemp("rules"))
    load_rules(rules)
    return rules


ANY_CHARACTER = st.characters(exclude_categories=())  # also lone surrogates


@settings(max_examples=200)
@given(text=st.text(ANY_CHARACTER), url=st.text(ANY_CHARACTER, max_size=30))
def test_no_rule_fails_on_any_text(rules: list[CleaningRule], text: str, url: str):
    for rule in rules:
        document = Document(text, url)
        outcome = rule.apply(document)
        assert isinstance(outcome, Drop) or outcome.url == url
        assert document.text == text


def test_rules_are_functions_of_the_document(rules: list[CleaningRule]):
    for text in make_documents(40, seed=2):
        for rule in rules:
            assert rule.apply(Document(text)) == rule.apply(Document(text))


ARABIC = (
    "جلس القط الكبير على السجادة وركض الكلب خلفه حتى تعب كلاهما من اللعب في الحديقة الواسعة.",
    "ذهب الولد إلى المدرسة في الصباح الباكر وقرأ كتابا طويلا عن تاريخ المدينة القديمة.",
    "هل تعرف متى يبدأ فصل الشتاء في هذه البلاد الجميلة وكم يوما يستمر المطر فيها؟",
    "تعمل أمي في مستشفى كبير قرب النهر وتعود إلى البيت بعد غروب الشمس كل مساء.",
    "اشترى أبي خبزا وجبنا وزيتونا من السوق ثم أعد لنا طعام العشاء مع إخوتي.",
    "كتب الصحفي مقالا مهما حول أسباب ارتفاع الأسعار خلال السنوات الأخيرة.",
)


def test_rules_on_arabic(rules: list[CleaningRule]):
    text = "\n".join(ARABIC)
    reasons = {}
    for rule in rules[: len(RULES)]:
        outcome = rule.apply(Document(text))
        reasons[rule.rule] = outcome.reason if isinstance(outcome, Drop) else "kept"
    assert reasons.pop("vocabulary") == "unknown words"
    assert reasons.pop("gopher_quality") == "too few stop words"
    assert set(reasons.values()) == {"kept"}
    assert isinstance(GopherQualityRule(stop_words=("في", "من", "إلى")).apply(Document(text)), Document)
    # C4 knows no Arabic question mark, and FineWeb does.
    questions = Document(text.replace(".", "؟"))
    assert C4Rule().apply(questions) == Drop("too few sentences")
    assert C4Rule(require_terminal_punctuation=False).apply(questions) == questions
    assert FineWebRule().apply(questions) is questions


@pytest.mark.parametrize(
    "unit",
    ["a", "(", "a@", "1.", "+1", "&", "<&", "é", "Ã", "[1", ". ", "\n", "- ", "中", "{", "'", " '", "\ud800", "a\n"],
)
def test_a_megabyte_of_one_pattern_takes_seconds(rules: list[CleaningRule], unit: str):
    document = Document(unit * (1_000_000 // len(unit)))
    started = time.process_time()
    for rule in rules:
        rule.apply(document)
    assert time.process_time() - started < 20


def test_a_megabyte_of_random_punctuation_takes_bounded_time(rules: list[CleaningRule]):
    text = "".join(random.Random(0).choices("()[]{}'\".,;:!?-+@#&<>/1a", k=100_000))
    started = time.process_time()
    for rule in rules:
        rule.apply(Document(text))
    assert time.process_time() - started < 20


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_recipes(recipe: Path):
    # Recipes also have options of other packages.
    rules = CleanOptions.parse({"rules": yaml.safe_load(recipe.read_text())["rules"]}).rules
    load_rules(rules)
    assert rules


def test_all_recipes_are_there():
    assert [path.stem for path in RECIPES] == ["babylm", "c4", "commoncrawl-warc", "commoncrawl-wet", "wikipedia"]


def test_import_is_light():
    code = "import sys\nimport pipelines.clean.registry\n"
    code += "sys.exit(' '.join({'spacy', 'numba', 'ftfy', 'py3langid'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr == "\n"
