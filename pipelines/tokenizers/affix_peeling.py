"""spaCy's English tokenization in linear time, for long strings without white space.

spaCy removes affixes one at a time. For each, it hashes the whole remaining string and searches it for a suffix, so a
run of n marks takes time n². Here, only the ends of the remaining string are examined, which gives the same tokens:
prefixes match at the start, special cases have bounded lengths, and suffixes too, except for a run of periods. spaCy
needs quadratic time also for its pattern of URLs, whose user part can end in many ways before each `@`.

The steps are those of `Tokenizer._split_affixes`, `_attach_tokens` and `_apply_special_cases` in `spacy/tokenizer.pyx`.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, cast

from spacy.attrs import ORTH
from spacy.lang.en import English
from spacy.lang.tokenizer_exceptions import URL_PATTERN
from spacy.util import compile_infix_regex, compile_suffix_regex

# Number of characters in which all suffixes are found, except for runs of periods: the longest has five, and the
# longest look-behind two.
SUFFIX_CHARACTERS = 8

# Beginning of spaCy's pattern of URLs: the protocol, and the user. What follows begins with the host.
_PROTOCOL = r"(?:(?:[\w\+\-\.]{2,})://)?"
_USER = r"(?:\S+(?::\S*)?@)?"

# End of its labels of a host. No shorter sequence of labels leads to a match, so it need not be remembered for
# backtracking, which takes 200 bytes per label.
_LABELS = r"[A-Za-z0-9\u00a1-\uffff]\.)+"


class AffixPeeler:
    """Tokenizer with the tokens of `spacy.blank("en")`, in time linear in the length of a text.

    Attributes:
        growing_cases: special cases with more tokens than they have by other rules. If one is inside of a text, as in
            "°C.°C.", spaCy 3.8 can write beyond the end of an array of tokens, and the process crashes or is damaged:
            `_apply_special_cases` copies the largest number of tokens on the way into an array for the final number.
    """

    def __init__(self):
        defaults = cast(Any, English.Defaults)  # its types allow missing patterns
        self._match_prefix = re.compile("|".join(piece for piece in defaults.prefixes if piece.strip())).match
        self._search_suffix = lru_cache(compile_suffix_regex(defaults.suffixes).search)
        self._find_infixes = compile_infix_regex(defaults.infixes).finditer
        # Tokens of each special case.
        self._cases = {
            case: [part[ORTH] for part in parts]
            for case, parts in defaults.tokenizer_exceptions.items()
            if not case.isspace()
        }
        self._longest_case = max(map(len, self._cases))
        self.growing_cases: list[str] = []
        self._phrases = self._make_phrases()

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text whose white space is single spaces."""
        tokens: list[str] = []
        spaced = bytearray()  # whether a space follows a token
        for chunk in text.split():
            self._split(chunk, self._cases, tokens)
            spaced.extend(bytes(len(tokens) - len(spaced) - 1) + b"\1")
        starts = self._find_phrases(tokens)
        return list(self._apply_cases(tokens, spaced, starts)) if starts else tokens

    def split_cases(self) -> Iterator[list[str]]:
        """Yield the tokens of each special case by the other rules."""
        for case in self._cases:
            tokens: list[str] = []
            self._split(case, {}, tokens)
            yield tokens

    def _split(self, chunk: str, cases: Mapping[str, list[str]], tokens: list[str]) -> None:
        """Append the tokens of a string without white space, with special cases only between affixes."""
        suffixes: list[str] = []
        start, stop = 0, len(chunk)
        while start < stop and not self._is_case(chunk, start, stop, cases):
            match = self._match_prefix(chunk, start, stop)
            after = match.end() if match else start
            if match and self._is_case(chunk, after, stop, cases):
                before = stop
            else:
                before = self._suffix_start(chunk, after, stop)
                if before < stop and self._is_case(chunk, start, before, cases):
                    after = start
            if after == start and before == stop:
                break
            if after > start:
                tokens.append(chunk[start:after])
            if before < stop:
                suffixes.append(chunk[before:stop])
            start, stop = after, before
        self._split_middle(chunk[start:stop], cases, tokens)
        tokens.extend(reversed(suffixes))

    def _is_case(self, chunk: str, start: int, stop: int, cases: Mapping[str, list[str]]) -> bool:
        return stop - start <= self._longest_case and chunk[start:stop] in cases

    def _suffix_start(self, chunk: str, start: int, stop: int) -> int:
        """Return the start of the suffix of `chunk[start:stop]`, or `stop` if it has none."""
        end = chunk[max(start, stop - SUFFIX_CHARACTERS) : stop]
        if end.endswith(".."):
            position = stop - 2
            while position > start and chunk[position - 1] == ".":
                position -= 1
            return position
        match = self._search_suffix(end)
        return stop - len(end) + match.start() if match else stop

    def _split_middle(self, string: str, cases: Mapping[str, list[str]], tokens: list[str]) -> None:
        """Append the tokens of a string without affixes."""
        if string in cases:
            tokens.extend(cases[string])
            return
        start = 0
        if not is_url(string):
            for infix in self._find_infixes(string):
                if infix.start() == 0:
                    continue
                if infix.start() > start:
                    tokens.append(string[start : infix.start()])
                tokens.append(infix[0])
                start = infix.end()
        if start < len(string):
            tokens.append(string[start:])

    def _make_phrases(self) -> dict[Any, Any]:
        """Return the special cases that other rules would split, as a trie of their tokens; None ends a phrase.

        Sets `growing_cases`.
        """
        phrases: dict[Any, Any] = {}
        for case in self._cases:
            has_suffix = self._suffix_start(case, 0, len(case)) < len(case)
            if has_suffix or self._match_prefix(case) or any(True for _ in self._find_infixes(case)):
                node = phrases
                tokens: list[str] = []
                self._split(case, {}, tokens)
                for token in tokens:
                    node = node.setdefault(token, {})
                node[None] = None
                if len(tokens) < len(self._cases[case]):
                    self.growing_cases.append(case)
        return phrases

    def _apply_cases(self, tokens: list[str], spaced: bytearray, starts: dict[int, "array[int]"]) -> Iterator[str]:
        """Yield tokens, after special cases that extend over several tokens are replaced by their own tokens."""
        sizes = _choose_spans(starts, len(tokens))
        position = 0
        while position < len(tokens):
            end = position + (sizes[position] or 1)
            if sizes[position]:
                phrase = tokens[position:end]
                words = [token + " " * space for token, space in zip(phrase, spaced[position:end], strict=True)]
                yield from self._cases.get("".join(words).removesuffix(" "), phrase)
            else:
                yield tokens[position]
            position = end

    def _find_phrases(self, tokens: list[str]) -> dict[int, "array[int]"]:
        """Return the starts of the phrases in tokens, by the number of tokens of a phrase."""
        starts: defaultdict[int, array[int]] = defaultdict(lambda: array("q"))
        for start, token in enumerate(tokens):
            node = self._phrases.get(token)
            size = 1
            while node is not None:
                if None in node:
                    starts[size].append(start)
                node = node.get(tokens[start + size]) if start + size < len(tokens) else None
                size += 1
        return starts


def _choose_spans(starts: dict[int, "array[int]"], tokens: int) -> bytearray:
    """Return the size of the chosen span that begins at each token, or 0. The longest is chosen first, then the first.

    As in spaCy, a span that is not chosen also excludes the shorter ones that begin or end in it.
    """
    chosen, seen = bytearray(tokens), bytearray(tokens)
    for size in sorted(starts, reverse=True):
        covered = b"\1" * size
        for start in starts[size]:
            if not seen[start] and not seen[start + size - 1]:
                chosen[start] = size
            seen[start : start + size] = covered
    return chosen


def is_url(string: str) -> bool:
    """Return whether spaCy's pattern of URLs matches a string without white space.

    A host can begin at the start, after the protocol, and after each `@`, because a user is any string. Hosts have no
    `@`, so the time is linear.
    """
    if "." not in string:
        return False
    match_host, match_protocol = _url_patterns()
    if match_host(string):
        return True
    protocol = match_protocol(string)
    if protocol and match_host(string, protocol.end()):
        return True
    at = string.find("@", 1)
    while at >= 0:
        if match_host(string, at + 1):
            return True
        at = string.find("@", at + 1)
    return False


@cache
def _url_patterns() -> tuple[Any, Any]:
    host = URL_PATTERN.removeprefix("^" + _PROTOCOL + _USER).replace(_LABELS, _LABELS + "+")
    return re.compile(host).match, re.compile(_PROTOCOL.removesuffix("?")).match
