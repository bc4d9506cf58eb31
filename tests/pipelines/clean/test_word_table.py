"""Words of single documents: those of spaCy, with the properties that rules need."""

import itertools

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from made_documents import ODD_TOKENS, make_documents

from pipelines.clean import word_table
from pipelines.clean.word_table import MAX_CHUNK_LENGTH, WordTable
from pipelines.tokenizers.spacy_english import affix_peeler

NLP = spacy.blank("en")
NLP.add_pipe("sentencizer")
TABLE = WordTable()

TOKENS = st.sampled_from(
    [*ODD_TOKENS, "Word", "end.", "end", ".", "!", '."', ")", "(", "'", "em", "y'", "o'", "”", "¿"]
)
GAPS = st.sampled_from([" "] * 6 + ["\n", "  ", "\t", "\u00a0", " \n ", "\u2028", ""])
TEXTS = st.lists(st.tuples(TOKENS, GAPS)).map(lambda pairs: "".join(itertools.chain(*pairs)))


def words_in(table: WordTable, text: str) -> list[str]:
    spelled = list(table._numbers)  # pyright: ignore[reportPrivateUsage]
    return [spelled[number] for number in table.encode(text)]


def words_of_spacy(text: str) -> list[str]:
    return [token.text for token in NLP.tokenizer(text) if not token.is_space]


def encoded(table: WordTable, text: str) -> list[str]:
    table.encode(text)  # numbers new words
    return words_in(table, text)


@given(TEXTS)
def test_words_are_those_of_spacy(text: str):
    assert encoded(TABLE, text) == words_of_spacy(text)


@given(st.text(max_size=60))
def test_words_of_any_text_are_those_of_spacy(text: str):
    assert encoded(TABLE, text) == words_of_spacy(text)


def test_words_of_documents_are_those_of_spacy():
    for text in make_documents(60, seed=1):
        if max(map(len, text.split()), default=0) <= MAX_CHUNK_LENGTH:
            assert encoded(TABLE, text) == words_of_spacy(text)


@given(TEXTS.filter(str.strip))
def test_sentences_are_those_of_spacy(text: str):
    line = " ".join(text.splitlines()).strip()
    sentences = [sentence.text.strip() for sentence in NLP(line).sents]
    assert TABLE.count_sentences(line) == sum(sentence != "" for sentence in sentences)


def test_known_numbers_of_sentences():
    counts = {
        "One": 1,
        "One. Two": 2,
        "One. Two!": 2,
        "Really?! (Yes.)": 2,
        "Really?! Yes.": 2,
        "U.S. law": 1,
        "a.b": 1,
    }
    assert {line: TABLE.count_sentences(line) for line in counts} == counts


def test_properties_of_words():
    numbers = TABLE.encode("naïve ... 4 a1 ，")
    assert TABLE.lengths[numbers].tolist() == [5, 3, 1, 2, 1]
    assert TABLE.is_symbol[numbers].tolist() == [False, True, False, False, True]
    assert TABLE.has_letter[numbers].tolist() == [True, False, False, True, False]


@given(st.lists(st.sampled_from(["a", "bc", "d"]), min_size=2, max_size=5))
def test_hashes_depend_on_the_concatenated_words(words: list[str]):
    code = 0
    for word in words:
        number = TABLE.encode(word)[0]
        code = (code * int(TABLE.powers[number]) + int(TABLE.hashes[number])) % 2**64
    assert code == TABLE.hashes[TABLE.encode("".join(words))[0]]


def test_a_long_chunk_is_split_into_pieces():
    text = "a" * (2 * MAX_CHUNK_LENGTH + 5)
    assert [len(word) for word in encoded(TABLE, text)] == [MAX_CHUNK_LENGTH, MAX_CHUNK_LENGTH, 5]


def test_special_cases_that_damage_the_memory_of_spacy():
    for words in (89, 90, 91):
        chunks = [f"°C.°C.°C.{i}" for i in range(60)] + [f"(*_*{i}'''" for i in range(words)]
        found = encoded(WordTable(), " ".join(chunks))
        assert found == [word for chunk in chunks for word in affix_peeler().tokenize(chunk)]


def test_lone_surrogates_count_as_replacement_characters():
    assert encoded(WordTable(), "\ud800 b") == ["\ufffd", "b"]


def test_a_table_grows_and_keeps_its_words():
    table = WordTable()
    text = " ".join(f"w{number}" for number in range(40_000))
    numbers = table.encode(text)
    assert len(table) == 40_000
    assert numbers.tolist() == table.encode(text).tolist()
    assert table.lengths[numbers].sum() == len(text) - 39_999


def test_a_full_table_is_replaced_and_words_keep_theirs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(word_table, "MAX_CHUNKS", 3)
    words = word_table.words_of("one two three four")
    others = word_table.words_of("five")
    assert others.table is not words.table
    assert words.table.lengths[words.numbers].tolist() == [3, 3, 5, 4]
