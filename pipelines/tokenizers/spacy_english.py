"""spaCy's English tokenization without tokens of white space (Zhao & Williams 2023: "standard spaCy tokenization")."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import spacy
from spacy.attrs import IS_SPACE, LOWER, ORTH
from spacy.lang.en import English
from spacy.lang.lex_attrs import LEX_ATTRS
from spacy.lang.tokenizer_exceptions import URL_PATTERN
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex
from spacy.vocab import Vocab

from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.errors import BitcipherError
from bitcipher.normalization import Normalization
from pipelines.tokenizers.affix_peeling import AffixPeeler
from pipelines.tokenizers.chunk_tokenizer import ChunkTokens, merge_tokens, normalize_strings
from pipelines.tokenizers.shaped_rule import ShapedRule

# Number of bytes of a chunk above which our linear implementation of spaCy's rules is used. spaCy needs quadratic time
# for punctuation: 7 µs per character for this length. One in 1,000 distinct chunks of web pages is longer.
LONG_CHUNK_BYTES = 32

# Number of chunks below which our implementation of spaCy's rules is used for all of them. To make a tokenizer of spaCy
# takes 50 ms, in which our implementation splits 3,000 chunks.
FEW_CHUNKS = 2_000

# Number of chunks per call of spaCy: enough to make the fixed cost of a call negligible, with little memory.
CHUNKS_PER_CALL = 5_000

# Number of chunks after which the spaCy tokenizer is replaced by a new one (0.06 s), because it stores all strings that
# it has processed.
CHUNKS_BEFORE_RENEWAL = 50_000

# Escape of a character in a pattern, such as \u00DF. Its digits are no word or number of the pattern.
_ESCAPE = re.compile(r"\\[uU][0-9A-Fa-f]{4,8}")


def make_spacy_rule(lowercase: bool) -> ShapedRule:
    """Return the rule that splits chunks as spaCy does.

    Args:
        lowercase: lowercase the tokens, as spaCy's `lower_`.
    """
    defaults = cast(Any, English.Defaults)  # its types allow missing patterns
    patterns = [*defaults.prefixes, *defaults.suffixes, *defaults.infixes, URL_PATTERN]
    reserved = [*defaults.tokenizer_exceptions, *(_ESCAPE.sub("", pattern) for pattern in patterns)]
    return ShapedRule(SpacyRule(), lowercase, reserved)


class SpacyRule:
    """Rule that splits chunks as spaCy does.

    The tokens of a chunk depend only on the chunk, except for special cases, which can cross a space (see `joins`).
    Chunks are passed to spaCy on separate lines, because special cases never cross a line feed. Few chunks, long ones,
    and those with which spaCy can damage memory, are tokenized by `AffixPeeler`, which gives the same tokens in linear
    time.
    """

    def __init__(self):
        self.joins = find_joins()
        # Made for the first batch of many chunks, with the number of chunks that it has processed.
        self._tokenizer: Tokenizer | None = None
        self._processed = 0

    def __call__(self, chunks: pa.LargeStringArray) -> ChunkTokens:
        """Return the tokens of chunks."""
        if len(chunks) < FEW_CHUNKS:
            return self._peel(chunks.to_pylist())
        peeled = pc.or_(
            pc.greater(pc.binary_length(chunks), LONG_CHUNK_BYTES),
            pc.match_substring_regex(chunks, unsafe_cases().pattern),
        )
        by_spacy = self._split_by_spacy(chunks.filter(pc.invert(peeled)))
        if not pc.any(peeled).as_py():
            return by_spacy
        by_peeler = self._peel(chunks.filter(peeled).to_pylist())
        return merge_tokens(peeled.to_numpy(zero_copy_only=False), by_spacy, by_peeler)

    def _split_by_spacy(self, chunks: pa.LargeStringArray) -> ChunkTokens:
        tokens, sizes = [pa.array([], pa.large_string())], [np.empty(0, np.int64)]
        for start in range(0, len(chunks), CHUNKS_BEFORE_RENEWAL):
            batch = chunks.slice(start, CHUNKS_BEFORE_RENEWAL).to_pylist()
            if self._tokenizer is None or self._processed + len(batch) > CHUNKS_BEFORE_RENEWAL:
                self._tokenizer, self._processed = english_tokenizer(), 0
            self._processed += len(batch)
            new_tokens, new_sizes = _split_batch(self._tokenizer, batch)
            tokens.append(new_tokens)
            sizes.append(new_sizes)
        return ChunkTokens(pa.concat_arrays(tokens), np.concatenate(sizes))

    def _peel(self, chunks: list[str]) -> ChunkTokens:
        tokens = [affix_peeler().tokenize(chunk) for chunk in chunks]
        words = pa.array(chain.from_iterable(tokens), pa.large_string())
        return ChunkTokens(words, np.array([len(each) for each in tokens], np.int64))


def _split_batch(tokenizer: Tokenizer, chunks: list[str]) -> ChunkTokens:
    forms, sizes = [], []
    for start in range(0, len(chunks), CHUNKS_PER_CALL):
        text = "\n".join(chunks[start : start + CHUNKS_PER_CALL])
        columns = tokenizer(text).to_array([ORTH, IS_SPACE])
        is_break = columns[:, 1] != 0
        forms.append(columns[~is_break, 0])
        sizes.append(np.diff(np.flatnonzero(is_break), prepend=-1, append=len(columns)) - 1)
    return ChunkTokens(strings_of(np.concatenate(forms), tokenizer.vocab.strings), np.concatenate(sizes))


@cache
def affix_peeler() -> AffixPeeler:
    """Return the linear tokenizer of this process."""
    return AffixPeeler()


@cache
def unsafe_cases() -> re.Pattern[str]:
    """Return a pattern of the strings with which spaCy can damage memory (see `AffixPeeler.growing_cases`)."""
    return re.compile("|".join(map(re.escape, affix_peeler().growing_cases)) or r"[^\s\S]")


def english_tokenizer() -> Tokenizer:
    """Return a new spaCy tokenizer that splits chunks without white space as `spacy.blank("en")` does (0.1 s).

    It stores all strings that it has processed, so replace it from time to time.

    Features that are not needed are left out. Lexemes get only the two attributes that are read here. The others would
    take a third of the time. Patterns are not applied to strings of ASCII letters, because all of them need a digit, a
    punctuation mark or a symbol. This saves another third. Special cases, such as `cannot`, are still found, because
    they are looked up before the patterns.
    """
    vocab = Vocab(lex_attr_getters={attribute: LEX_ATTRS[attribute] for attribute in (LOWER, IS_SPACE)})
    patterns = {name: _unless_letters(search, nothing) for name, (search, nothing) in _patterns().items()}
    return Tokenizer(
        vocab, rules=English.Defaults.tokenizer_exceptions, token_match=English.Defaults.token_match, **patterns
    )


@cache
def _patterns() -> dict[str, tuple[Callable[[str], Any], Any]]:
    """Return the pattern functions of spaCy's tokenizer by argument name, each with its result for no match."""
    defaults = cast(Any, English.Defaults)  # its types allow missing patterns
    return {
        "prefix_search": (compile_prefix_regex(defaults.prefixes).search, None),
        "suffix_search": (compile_suffix_regex(defaults.suffixes).search, None),
        "infix_finditer": (compile_infix_regex(defaults.infixes).finditer, ()),
        "url_match": (defaults.url_match, None),
    }


def _unless_letters(search: Callable[[str], Any], nothing: Any) -> Callable[[str], Any]:
    return lambda string: nothing if string.isascii() and string.isalpha() else search(string)


def rules_digest() -> str:
    """Return the SHA-256 of spaCy's English rules: its patterns and special cases.

    Releases of spaCy with the same rules give the same tokens. A release with another algorithm would fail the test of
    the golden digests of counts.
    """
    defaults = cast(Any, English.Defaults)  # its types allow missing patterns
    cases = {case: [token[ORTH] for token in tokens] for case, tokens in defaults.tokenizer_exceptions.items()}
    patterns = [list(defaults.prefixes), list(defaults.suffixes), list(defaults.infixes), URL_PATTERN]
    return hashlib.sha256(json.dumps([patterns, sorted(cases.items())]).encode()).hexdigest()


def find_joins() -> frozenset[tuple[str, str]]:
    """Return both parts of each special case, for each position at which spaCy's other rules would split the case."""
    parts = affix_peeler().split_cases()
    return frozenset(("".join(part[:i]), "".join(part[i:])) for part in parts for i in range(1, len(part)))


class SpacyExactTokenizer:
    """spaCy's unmodified tokenizer, applied to whole documents.

    Its time is quadratic in the length of a run of marks. `SpacyRule` gives the same tokens in linear time.

    Args:
        lowercase: lowercase the tokens, as spaCy's `lower_`.
        normalization: form of the documents before they are tokenized.
    """

    def __init__(self, lowercase: bool, normalization: Normalization = "none"):
        self._form = LOWER if lowercase else ORTH
        self._normalizes = normalization != "none"

    def tokenize(self, documents: pa.LargeStringArray, in_part: bool = False) -> TokenizedShard:
        """Return the tokens of all documents, also if `in_part`.

        Raises:
            BitcipherError: if spaCy could damage memory (see `AffixPeeler.growing_cases`).
        """
        nlp = spacy.blank("en")
        if self._normalizes:
            documents = normalize_strings(documents)
        forms = list(self._forms(nlp, documents))
        ends = np.cumsum([len(form) for form in forms], dtype=np.int64)
        hashes, ids = np.unique(np.concatenate([np.empty(0, np.uint64), *forms]), return_inverse=True)
        return TokenizedShard(strings_of(hashes, nlp.vocab.strings), ids.astype(np.int32), ends)

    def _forms(self, nlp: Language, documents: pa.LargeStringArray) -> Iterator[np.ndarray]:
        for document in (each.as_py() for each in documents):
            if unsafe := _unsafe_in_chunk().search(document):
                raise BitcipherError(
                    f"spaCy can crash at {unsafe[0]!r} in a document: set `tokenizer` to spacy, which gives the same "
                    "tokens without this error."
                )
            columns = nlp.tokenizer(document).to_array([self._form, IS_SPACE])
            yield columns[columns[:, 1] == 0, 0]


@cache
def _unsafe_in_chunk() -> re.Pattern[str]:
    """Return a pattern of unsafe cases before other characters than white space; alone, they are safe."""
    return re.compile(rf"(?:{unsafe_cases().pattern})\S")


def strings_of(hashes: np.ndarray, store: StringStore) -> pa.LargeStringArray:
    """Return the strings of spaCy's hashes, one per hash."""
    distinct, positions = np.unique(hashes, return_inverse=True)
    strings = pa.array([store[code] for code in distinct.tolist()], pa.large_string())
    return strings.take(pa.array(positions))
