"""spaCy's English rules, the paper's "standard spaCy tokenization", without its tokens of white space."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import spacy
from spacy.attrs import IS_SPACE, LOWER, ORTH
from spacy.tokenizer import Tokenizer

from bitcipher.counts import TokenisedShard

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
        self.reaches = _reaches(spacy.blank("en").tokenizer)

    def __call__(self, chunks: pa.LargeStringArray) -> tuple[pa.LargeStringArray, np.ndarray]:
        """The tokens of chunks, and how many each has."""
        tokens, sizes = [], []
        for start in range(0, len(chunks), CHUNKS_BEFORE_RENEWAL):
            new_tokens, new_sizes = self._split(chunks.slice(start, CHUNKS_BEFORE_RENEWAL).to_pylist())
            tokens.append(new_tokens)
            sizes.append(new_sizes)
        return pa.concat_arrays(tokens), np.concatenate(sizes)

    def _split(self, chunks: list[str]) -> tuple[pa.LargeStringArray, np.ndarray]:
        nlp = spacy.blank("en")
        _leave_letters_alone(nlp.tokenizer)
        forms, sizes = [], []
        for start in range(0, len(chunks), CHUNKS_AT_ONCE):
            text = "\n".join(chunks[start : start + CHUNKS_AT_ONCE])
            columns = nlp.tokenizer(text).to_array([self._form, IS_SPACE])
            is_break = columns[:, 1] != 0
            forms.append(columns[~is_break, 0])
            sizes.append(np.diff(np.flatnonzero(is_break), prepend=-1, append=len(columns)) - 1)
        return strings_of(np.concatenate(forms), nlp.vocab.strings), np.concatenate(sizes)


def _leave_letters_alone(tokenizer: Tokenizer) -> None:
    """Ask no rule about ASCII letters alone: each needs a digit, a mark or a symbol. That saves a third of the time.

    Special cases, such as `cannot`, are looked up before, and so are found all the same.
    """
    for name, nothing in (
        ("prefix_search", None),
        ("suffix_search", None),
        ("infix_finditer", ()),
        ("url_match", None),
    ):
        setattr(tokenizer, name, _unless_letters(getattr(tokenizer, name), nothing))


def _unless_letters(rule: Callable[[str], Any], nothing: Any) -> Callable[[str], Any]:
    return lambda string: nothing if string.isascii() and string.isalpha() else rule(string)


def _reaches(tokenizer: Tokenizer) -> frozenset[tuple[str, str]]:
    """All ways to cut special cases in two where the other rules would cut them."""
    names = ("prefix_search", "suffix_search", "infix_finditer", "token_match", "url_match")
    without_cases = Tokenizer(tokenizer.vocab, rules={}, **{name: getattr(tokenizer, name) for name in names})
    parts = ([token.text for token in without_cases(case)] for case in tokenizer.rules)
    return frozenset(("".join(part[:i]), "".join(part[i:])) for part in parts for i in range(1, len(part)))


class SpacyExactTokenizer:
    """spaCy's tokenizer over whole documents, as it is.

    Args:
        lowercase: lower-case tokens, as spaCy's `lower_`.
    """

    def __init__(self, lowercase: bool):
        self._form = LOWER if lowercase else ORTH

    def tokenize(self, documents: pa.LargeStringArray) -> TokenisedShard:
        """The tokens of documents."""
        nlp = spacy.blank("en")
        forms = list(self._forms(nlp, documents))
        ends = np.cumsum([len(form) for form in forms], dtype=np.int64)
        hashes, ids = np.unique(np.concatenate([np.empty(0, np.uint64), *forms]), return_inverse=True)
        return TokenisedShard(strings_of(hashes, nlp.vocab.strings), ids.astype(np.int32), ends)

    def _forms(self, nlp: spacy.language.Language, documents: pa.LargeStringArray) -> Iterator[np.ndarray]:
        for document in documents:
            columns = nlp.tokenizer(document.as_py()).to_array([self._form, IS_SPACE])
            yield columns[columns[:, 1] == 0, 0]


def strings_of(hashes: np.ndarray, store: spacy.strings.StringStore) -> pa.LargeStringArray:
    """The strings that spaCy's hashes stand for, (n,)."""
    distinct, places = np.unique(hashes, return_inverse=True)
    strings = pa.array([store[code] for code in distinct.tolist()], pa.large_string())
    return strings.take(pa.array(places))
