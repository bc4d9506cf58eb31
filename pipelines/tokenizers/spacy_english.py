"""spaCy's English rules, the paper's "standard spaCy tokenization", without its tokens of white space."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import spacy
from spacy.attrs import IS_SPACE, LOWER, ORTH
from spacy.lang.en import English
from spacy.lang.lex_attrs import LEX_ATTRS
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex
from spacy.vocab import Vocab

from bitcipher.counts import TokenizedShard

# Chunks that go through spaCy in one call: the call's own cost is spread, its memory small.
CHUNKS_AT_ONCE = 5_000

# spaCy keeps every string that it ever saw; after so many chunks a fresh tokenizer takes over (0.1 s).
CHUNKS_BEFORE_RENEWAL = 200_000


class SpacyRule:
    """The tokens of each chunk by spaCy's rules.

    spaCy's tokens are a function of the chunk, but for its special cases, which are matched over tokens and so may
    reach over a space (see `reaches`). Chunks go through spaCy on lines of their own, where nothing reaches over.

    Args:
        lowercase: lower-case tokens, as spaCy's `lower_`.
    """

    def __init__(self, lowercase: bool):
        self._form = LOWER if lowercase else ORTH
        self.reaches = _reaches()

    def __call__(self, chunks: pa.LargeStringArray) -> tuple[pa.LargeStringArray, np.ndarray]:
        """The tokens of chunks, and how many each has."""
        tokens, sizes = [], []
        for start in range(0, len(chunks), CHUNKS_BEFORE_RENEWAL):
            new_tokens, new_sizes = self._split(chunks.slice(start, CHUNKS_BEFORE_RENEWAL).to_pylist())
            tokens.append(new_tokens)
            sizes.append(new_sizes)
        return pa.concat_arrays(tokens), np.concatenate(sizes)

    def _split(self, chunks: list[str]) -> tuple[pa.LargeStringArray, np.ndarray]:
        tokenizer = _make_tokenizer(English.Defaults.tokenizer_exceptions)
        forms, sizes = [], []
        for start in range(0, len(chunks), CHUNKS_AT_ONCE):
            text = "\n".join(chunks[start : start + CHUNKS_AT_ONCE])
            columns = tokenizer(text).to_array([self._form, IS_SPACE])
            is_break = columns[:, 1] != 0
            forms.append(columns[~is_break, 0])
            sizes.append(np.diff(np.flatnonzero(is_break), prepend=-1, append=len(columns)) - 1)
        return strings_of(np.concatenate(forms), tokenizer.vocab.strings), np.concatenate(sizes)


def _make_tokenizer(rules: dict[str, Any]) -> Tokenizer:
    """spaCy's English tokenizer, put together as `spacy.blank("en")` does it, but for what is never asked of it.

    New words get no attributes but those that are read here: a dozen others take a third of the time. And no pattern
    is tried on ASCII letters alone, for each needs a digit, a mark or a symbol; that saves another third. Special
    cases, such as `cannot`, are looked up before, and so are found all the same.

    Args:
        rules: the special cases.
    """
    vocab = Vocab(lex_attr_getters={attribute: LEX_ATTRS[attribute] for attribute in (LOWER, IS_SPACE)})
    patterns = {name: _unless_letters(search, nothing) for name, (search, nothing) in _patterns().items()}
    return Tokenizer(vocab, rules=rules, token_match=English.Defaults.token_match, **patterns)


@cache
def _patterns() -> dict[str, tuple[Callable[[str], Any], Any]]:
    """What spaCy searches a string for, and what it takes for nothing found."""
    defaults = English.Defaults
    return {
        "prefix_search": (compile_prefix_regex(defaults.prefixes).search, None),
        "suffix_search": (compile_suffix_regex(defaults.suffixes).search, None),
        "infix_finditer": (compile_infix_regex(defaults.infixes).finditer, ()),
        "url_match": (defaults.url_match, None),
    }


def _unless_letters(search: Callable[[str], Any], nothing: Any) -> Callable[[str], Any]:
    return lambda string: nothing if string.isascii() and string.isalpha() else search(string)


def _reaches() -> frozenset[tuple[str, str]]:
    """All ways to cut special cases in two where the other rules would cut them."""
    without_cases = _make_tokenizer({})
    cases = English.Defaults.tokenizer_exceptions
    parts = ([token.text for token in without_cases(case)] for case in cases)
    return frozenset(("".join(part[:i]), "".join(part[i:])) for part in parts for i in range(1, len(part)))


class SpacyExactTokenizer:
    """spaCy's tokenizer over whole documents, as it is.

    Args:
        lowercase: lower-case tokens, as spaCy's `lower_`.
    """

    def __init__(self, lowercase: bool):
        self._form = LOWER if lowercase else ORTH

    def tokenize(self, documents: pa.LargeStringArray) -> TokenizedShard:
        """The tokens of documents."""
        nlp = spacy.blank("en")
        forms = list(self._forms(nlp, documents))
        ends = np.cumsum([len(form) for form in forms], dtype=np.int64)
        hashes, ids = np.unique(np.concatenate([np.empty(0, np.uint64), *forms]), return_inverse=True)
        return TokenizedShard(strings_of(hashes, nlp.vocab.strings), ids.astype(np.int32), ends)

    def _forms(self, nlp: Language, documents: pa.LargeStringArray) -> Iterator[np.ndarray]:
        for document in documents:
            columns = nlp.tokenizer(document.as_py()).to_array([self._form, IS_SPACE])
            yield columns[columns[:, 1] == 0, 0]


def strings_of(hashes: np.ndarray, store: spacy.strings.StringStore) -> pa.LargeStringArray:
    """The strings that spaCy's hashes stand for, (n,)."""
    distinct, places = np.unique(hashes, return_inverse=True)
    strings = pa.array([store[code] for code in distinct.tolist()], pa.large_string())
    return strings.take(pa.array(places))
