"""Words of single documents, as numbers, with the properties that rules need.

Words are the tokens of spaCy's English rules, without white space. A table keeps the words of each chunk of text
between white space. Most chunks of a document are known from preceding documents, so their words need only one look-up.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import cast

import numpy as np
from spacy.lang.lex_attrs import is_punct
from spacy.pipeline import Sentencizer

from bitcipher.splitmix import GOLDEN
from pipelines.clean.characters import NOT_IN_WORDS
from pipelines.tokenizers.boundary_rules import BoundaryRules
from pipelines.tokenizers.spacy_english import (
    CHUNKS_BEFORE_RENEWAL,
    LONG_CHUNK_BYTES,
    affix_peeler,
    english_tokenizer,
    find_joins,
    unsafe_cases,
)

# A full table is replaced by an empty one. It has 240 MB, spaCy's own tables included.
MAX_CHUNKS = 500_000

# Longer chunks are split into pieces of this length, so that the size of a full table is bounded.
MAX_CHUNK_LENGTH = 256

# Base of the hash of a word: h = Σ c[i] · BASE^(length - 1 - i) modulo 2⁶⁴, for code points c.
_BASE = int(GOLDEN)
_MODULUS = 1 << 64

_WHITE_SPACE = re.compile(r"(\s+)")
_WIDE_GAP = re.compile(r"\s{2,}|[^\S ]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SENTENCE_END = frozenset(Sentencizer.default_punct_chars)


class WordTable:
    """Words of chunks of text, and properties of each word by its number.

    Attributes:
        lengths: int64, number of characters.
        is_symbol: bool, whether a word has only characters of `NOT_IN_WORDS`.
        has_letter: bool, whether a word has a letter.
        hashes, powers: uint64, hash of a word, and the base of hashes to the power of its length. The hash of the
            concatenation of words a and b is hash(a) · power(b) + hash(b).
    """

    def __init__(self):
        self._tokenizer = english_tokenizer()
        # Number of chunks after which the tokenizer is replaced.
        self._renewal = CHUNKS_BEFORE_RENEWAL
        self._pattern = _join_pattern()
        self._meets = {(first[-1], second[0]) for first, second in _joins()}
        self._boundaries = BoundaryRules(_joins())
        self._numbers: dict[str, int] = {}
        # Words of a chunk: the bytes of their numbers, int32.
        self._chunks: dict[str, bytes] = {}
        # For `count_sentences`, by word number: 1 if a word ends a sentence, nothing for other punctuation, else 0.
        self._word_ends: list[bytes] = []
        # The same for all words of a chunk.
        self._ends: dict[str, bytes] = {}
        self.lengths = np.empty(1 << 14, np.int64)
        self.is_symbol = np.empty(1 << 14, np.bool_)
        self.has_letter = np.empty(1 << 14, np.bool_)
        self.hashes = np.empty(1 << 14, np.uint64)
        self.powers = np.empty(1 << 14, np.uint64)

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self._chunks)

    def encode(self, text: str) -> np.ndarray:
        """Return the numbers of the words of a text, (words,) int32."""
        return np.frombuffer(b"".join(self._look_up(self._chunks, self._split(text))), np.int32)

    def number_of(self, word: str) -> int:
        """Return the number of a word, or -1 if no chunk has it."""
        return self._numbers.get(word, -1)

    def count_sentences(self, line: str) -> int:
        """Return the number of sentences of a line that is not blank, as by spaCy's sentencizer.

        A sentence ends after a word such as "." or "!" and all punctuation that follows.
        """
        chunks = self._split(line)
        line = line.strip()
        if " ".join(chunks) == line:
            ends = b"".join(self._look_up(self._ends, chunks))
        else:
            # spaCy has tokens of white space, unless it is a single space. They are words that end no sentence.
            parts = map(self._split, _WIDE_GAP.split(line))
            ends = b"0".join(b"".join(self._look_up(self._ends, part)) for part in parts)
        return 1 + ends.count(b"10")

    def _split(self, text: str) -> list[str]:
        """Return the chunks of a text that can be tokenized separately.

        White space separates chunks, but a chunk has a space in it if a special case of spaCy can cross the space.
        """
        chunks = text.split()
        if self._pattern.search(text):
            chunks = self._join(_WHITE_SPACE.split(text.strip()))
        if len(text) > MAX_CHUNK_LENGTH and chunks and len(max(chunks, key=len)) > MAX_CHUNK_LENGTH:
            chunks = [piece for chunk in chunks for piece in _pieces(chunk)]
        return chunks

    def _join(self, parts: list[str]) -> list[str]:
        """Return chunks, joined where necessary, from alternating chunks and white space."""
        joined = parts[:1]
        for before, space, chunk in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            can_meet = space == " " and (before[-1], chunk[0]) in self._meets and len(joined[-1]) < MAX_CHUNK_LENGTH
            if can_meet and self._boundaries.may_join(before, chunk):
                joined[-1] += f" {chunk}"
            else:
                joined.append(chunk)
        return joined

    def _look_up(self, values: dict[str, bytes], chunks: list[str]) -> list[bytes]:
        """Return the value of each chunk, after new chunks are tokenized."""
        found = list(map(values.get, chunks))
        if None in found:
            self._add({chunk for chunk, value in zip(chunks, found, strict=True) if value is None})
            return list(map(values.__getitem__, chunks))
        return cast(list[bytes], found)

    def _add(self, chunks: set[str]) -> None:
        """Tokenize new chunks."""
        if len(self._chunks) > self._renewal:
            self._tokenizer = english_tokenizer()
            self._renewal = len(self._chunks) + CHUNKS_BEFORE_RENEWAL
        is_unsafe = unsafe_cases().search
        short = [chunk for chunk in chunks if len(chunk) <= LONG_CHUNK_BYTES and not is_unsafe(chunk)]
        # Special cases never cross a line feed, so the words of a line are those of its chunk.
        tokens = iter(self._tokenizer(_replace_surrogates("\n".join(short))))
        for chunk in short:
            words = []
            for token in tokens:
                if token.is_space:
                    break
                words.append(token.text)
            self._add_chunk(chunk, words)
        for chunk in chunks.difference(short):
            self._add_chunk(chunk, affix_peeler().tokenize(_replace_surrogates(chunk)))

    def _add_chunk(self, chunk: str, words: list[str]) -> None:
        numbers = [self._numbers[word] if word in self._numbers else self._add_word(word) for word in words]
        self._chunks[chunk] = np.array(numbers, np.int32).tobytes()
        self._ends[chunk] = b"".join(map(self._word_ends.__getitem__, numbers))

    def _add_word(self, word: str) -> int:
        number = self._numbers[word] = len(self._numbers)
        if number == len(self.lengths):
            for name in ("lengths", "is_symbol", "has_letter", "hashes", "powers"):
                setattr(self, name, np.concatenate([getattr(self, name)] * 2))
        code = 0
        for character in word:
            code = (code * _BASE + ord(character)) % _MODULUS
        self._word_ends.append(b"1" if word in _SENTENCE_END else b"" if is_punct(word) else b"0")
        self.lengths[number] = len(word)
        self.is_symbol[number] = NOT_IN_WORDS.issuperset(word)
        self.has_letter[number] = any(map(str.isalpha, word))
        self.hashes[number] = code
        self.powers[number] = pow(_BASE, len(word), _MODULUS)
        return number


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a text.

    Attributes:
        table: properties of the words by number.
        numbers: (words,) int32.
    """

    table: WordTable
    numbers: np.ndarray

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.numbers)


def words_of(text: str) -> Words:
    """Return the words of a text."""
    table = current_table()
    return Words(table, table.encode(text))


_tables: list[WordTable] = []


def current_table() -> WordTable:
    """Return the table of this process. A full table is replaced; `Words` keep the table of their numbers."""
    if not _tables or len(_tables[0]) > MAX_CHUNKS:
        _tables[:] = [WordTable()]
    return _tables[0]


def _replace_surrogates(text: str) -> str:
    """Return a text without lone surrogates, because spaCy's strings are UTF-8."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def _pieces(chunk: str) -> list[str]:
    return [chunk[start : start + MAX_CHUNK_LENGTH] for start in range(0, len(chunk), MAX_CHUNK_LENGTH)]


@cache
def _joins() -> frozenset[tuple[str, str]]:
    return find_joins()


@cache
def _join_pattern() -> re.Pattern[str]:
    """Return a pattern of the characters around a space that a special case of spaCy can cross.

    Each alternative of the pattern begins with a test that excludes most spaces.
    """
    firsts: dict[str, set[str]] = {}
    for first, second in _joins():
        firsts.setdefault(second[0], set()).add(first[-1])
    marks = [char for char in firsts if not char.isalnum()]
    others = [char for char in firsts if char.isalnum()]
    before_others = set().union(*(firsts[char] for char in others))
    cases = {char: f"(?<={_any_of(firsts[char])} ){re.escape(char)}" for char in firsts}
    return re.compile(
        f" (?:(?={_any_of(marks)})(?:{'|'.join(cases[char] for char in marks)})"
        f"|(?<={_any_of(before_others)} )(?:{'|'.join(cases[char] for char in others)}))"
    )


def _any_of(characters: Iterable[str]) -> str:
    return f"[{re.escape(''.join(sorted(characters)))}]"
