import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipelines.tokenizers import chunk_kernels, chunk_tokenizer
from pipelines.tokenizers.chunk_tokenizer import ChunkTokenizer, ChunkTokens
from pipelines.tokenizers.registry import make_tokenizer
from pipelines.tokenizers.whitespace import WhitespaceRule

SPACES = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
# Characters next to white space in Unicode or in UTF-8, control characters, and characters of two to four bytes.
NO_SPACES = [
    *(chr(code) for code in range(32) if not chr(code).isspace()),
    *("!", "a", "b", "B", "\x7f", "\x84", "\x86", "\xa1", "à", "Å", "İ", "Σ", "ß", "ﬀ", "\u1681", "\u180e", "\u200b"),
    *("\u200e", "\u202a", "\u2030", "\u205e", "\u2060", "\u2080", "\u3001", "\u3002", "\ufeff", "€", "𝒳", "😀"),
]
# Lengths around one, two and three machine words of eight bytes; prefixes of each other; ASCII and non-ASCII.
STEMS = ["abcdefghijklmnopqrstuvwxyz" * 10, "a" * 300, "\0" * 40, "ab\x01\x1b\x7f!" * 9, "àé€" * 20, "aaaaaaa€" * 9]
SIZES = [1, 2, 6, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 250]
CHUNKS = [stem[:size] for stem in STEMS for size in SIZES] + [stem[size % 20 :] for stem in STEMS for size in SIZES]

any_text = st.text(st.sampled_from(SPACES + NO_SPACES) | st.characters(exclude_categories=["Cs"]))
chunked_text = st.lists(
    st.tuples(
        st.sampled_from(CHUNKS), st.sampled_from([" ", " ", "\n", "  ", "\u00a0", "\u2003 \u3000", "\x1f\x85", ""])
    )
).map(lambda pieces: "".join(piece for pair in pieces for piece in pair))
documents = st.lists(any_text | chunked_text, max_size=6)


def large_strings(texts):
    return pa.array(texts, pa.large_string())


def test_list_of_white_space_is_complete():
    assert len(SPACES) == 29
    assert not any(character.isspace() for character in NO_SPACES)


@given(st.lists(documents, max_size=4), st.sampled_from([0, 1, 3, 10, 10**6]))
@example([["\u1680", "a\u2028b\u2029c", "\x1c\x1d\x1e\x1f", "x\x85y\xa0z"]], 10)
@settings(max_examples=300, deadline=None)
def test_tokens_of_repeated_calls_equal_str_split(tokens_of, calls, max_chunks):
    tokenizer = ChunkTokenizer(WhitespaceRule(lowercase=False), max_chunks)
    for documents in calls:
        assert tokens_of(tokenizer.tokenize(large_strings(documents))) == [text.split() for text in documents]


@given(documents)
@settings(max_examples=100, deadline=None)
def test_lowercase_equals_str_lower(tokens_of, documents):
    tokens = tokens_of(make_tokenizer("whitespace", lowercase=True).tokenize(large_strings(documents)))
    assert tokens == [[token.lower() for token in text.split()] for text in documents]


@pytest.mark.parametrize("before", range(18))
def test_every_character_at_every_offset_in_two_machine_words(tokens_of, before):
    texts = [
        "a" * before + character + after
        for character in SPACES + NO_SPACES
        for after in ("", "b", "b" * 7, "b" * 8, " b", character + "b" * 20)
    ]
    tokenizer = make_tokenizer("whitespace", lowercase=False)
    assert tokens_of(tokenizer.tokenize(large_strings(texts))) == [text.split() for text in texts]


@given(documents, st.integers(0, 5), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_sliced_arrays_are_tokenized_correctly(tokens_of, documents, skipped, shown):
    array = large_strings(documents).slice(min(skipped, len(documents)), shown)
    tokens = tokens_of(make_tokenizer("whitespace", lowercase=False).tokenize(array))
    assert tokens == [text.split() for text in documents[skipped:][:shown]]


@pytest.mark.parametrize("documents", [[], [""], ["", "", ""], [" \n "], ["", "a", "", "\u3000"]])
def test_empty_documents_have_no_tokens(tokens_of, documents):
    tokenizer = make_tokenizer("whitespace", lowercase=False)
    for array in (large_strings(documents), large_strings(["before", *documents, "after"]).slice(1, len(documents))):
        assert tokens_of(tokenizer.tokenize(array)) == [text.split() for text in documents]


def test_known_chunks_are_found_after_the_table_has_grown(tokens_of):
    tokenizer = make_tokenizer("whitespace", lowercase=False)
    short = [f"{number:x}" for number in range(60_000)]
    long = [f"a-chunk-of-more-than-eight-bytes-{number}" for number in range(60_000)]
    documents = [" ".join(short), "few words", " ".join(long), " ".join(reversed(short + long))]
    expected = [text.split() for text in documents]
    assert tokens_of(tokenizer.tokenize(large_strings(documents))) == expected
    again = tokenizer.tokenize(large_strings(documents[::-1]))
    assert tokens_of(again) == expected[::-1]
    assert len(again.words) == 120_002


def test_very_long_chunks(tokens_of):
    documents = ["short", "x" * 3_000_000, "y" * 10 + " " + "x" * 2_999_999 + " " + "x" * 3_000_000, "é" * 700_000]
    tokens = tokens_of(make_tokenizer("whitespace", lowercase=False).tokenize(large_strings(documents)))
    assert tokens == [text.split() for text in documents]


def test_clearing_the_cache_does_not_change_the_tokens(tokens_of):
    tokenizer = ChunkTokenizer(WhitespaceRule(lowercase=False), max_chunks=5)
    for first in range(0, 40, 3):
        documents = [" ".join(str(number) for number in range(first, first + 4)), "a b a"]
        shard = tokenizer.tokenize(large_strings(documents))
        assert tokens_of(shard) == [text.split() for text in documents]
        assert len(shard.words) <= 5 + 6


def test_cache_is_cleared_after_many_bytes(tokens_of, monkeypatch):
    monkeypatch.setattr(chunk_tokenizer, "MAX_CHUNK_BYTES", 1_000)
    tokenizer = ChunkTokenizer(WhitespaceRule(lowercase=False))
    for first in range(0, 40, 3):
        documents = [" ".join(str(number) * 100 for number in range(first, first + 4)), "a b a"]
        shard = tokenizer.tokenize(large_strings(documents))
        assert tokens_of(shard) == [text.split() for text in documents]
        assert len(shard.words) <= 10 + 6


def test_rule_is_applied_once_per_chunk_and_may_return_any_number_of_tokens(tokens_of):
    seen = []

    def letters(chunks):
        seen.extend(chunks.to_pylist())
        tokens = [chunk.replace("-", "") for chunk in chunks.to_pylist()]
        sizes = np.array([len(letters) for letters in tokens], np.int64)
        return ChunkTokens(large_strings(list("".join(tokens))), sizes)

    letters.joins = frozenset()
    tokenizer = ChunkTokenizer(letters)
    assert tokens_of(tokenizer.tokenize(large_strings(["ab --- ba ab", "---", "c"]))) == [list("abbaab"), [], ["c"]]
    assert tokens_of(tokenizer.tokenize(large_strings(["c d ab ---"]))) == [list("cdab")]
    assert tokens_of(tokenizer.tokenize(large_strings(["- --"]))) == [[]]
    assert seen == ["ab", "---", "ba", "c", "d", "-", "--"]


def test_chunks_with_equal_keys_are_compared_by_bytes(tokens_of):
    one, other = chunks_of_one_key()
    keys = {chunk_kernels._key(np.frombuffer(chunk.encode(), np.uint8), 0, 16) for chunk in (one, other)}
    assert one != other
    assert len(keys) == 1
    text = f"{one} {other} {one}{other} {other} {one}"
    assert tokens_of(make_tokenizer("whitespace", lowercase=False).tokenize(large_strings([text]))) == [text.split()]


def chunks_of_one_key():
    """Return two chunks of 16 letters with equal table keys, found by solving the hash for the last eight letters."""
    golden, all_bits = 0x9E3779B97F4A7C15, 2**64 - 1

    def first_half(letters):
        key = ((16 ^ int.from_bytes(letters, "little")) * golden) & all_bits
        return key ^ (key >> 32)

    last = b"qwertyui"
    target = first_half(b"aaaaaaaa") ^ int.from_bytes(last, "little")
    random = np.random.default_rng(0)
    while True:
        letters = bytes(random.integers(33, 127, 8).tolist())
        rest = (first_half(letters) ^ target).to_bytes(8, "little")
        if all(33 <= byte < 127 for byte in rest):
            return (b"aaaaaaaa" + last).decode(), (letters + rest).decode()
