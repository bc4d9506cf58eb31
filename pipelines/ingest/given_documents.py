"""Documents that a Python program gives: strings, or lists of tokens, which are written to a file of JSON lines.

A build reads its sources several times, and an iterable can often be read only once.
"""

import hashlib
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import orjson

from bitcipher.errors import BitcipherError
from pipelines.ingest.sources import format_of

# Options of files, which documents of a program do not have.
FILE_OPTIONS = ("format", "document", "field", "encoding")

_URI = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


class GivenSources(NamedTuple):
    """Sources of a build in Python: patterns of files, or documents."""

    patterns: list[str] | None
    """Files, folders or globs; None if documents are given."""
    documents: Iterable[Any]
    """Documents; empty if patterns are given."""
    are_tokens: bool
    """Whether the documents are lists of tokens."""


def find_sources(sentences_or_paths: Any) -> GivenSources:
    """Return the patterns or the documents that a program gives.

    A string or a `Path` is a path, a URI or a glob. The elements of an iterable are paths if the first one is a `Path`,
    or a string without white space that is a URI, exists, or has the ending of a format; else they are documents.

    Raises:
        BitcipherError: if the argument is neither, or has no elements.
    """
    if isinstance(sentences_or_paths, str | os.PathLike):
        path = os.fspath(sentences_or_paths)
        if re.search(r"\s", path) and not re.search(r"[*?\[]|://", path) and not os.path.exists(path):
            start = textwrap.shorten(path, 40, placeholder=" …")
            raise BitcipherError(f"There is no file or folder {start!r}: a text must be in a list, as in `[text]`.")
        return GivenSources([path], [], False)
    is_table = hasattr(sentences_or_paths, "keys")  # of a dict or a data frame, the iterator yields only names
    if not isinstance(sentences_or_paths, Iterable) or isinstance(sentences_or_paths, bytes) or is_table:
        raise BitcipherError(
            "Give a path, or an iterable of documents (strings, or lists of tokens), got "
            f"{type(sentences_or_paths).__name__}{', whose column of texts can be given' if is_table else ''}."
        )
    elements = iter(sentences_or_paths)
    first = next(elements, None)
    if first is None:
        raise BitcipherError("There are no documents: the iterable is empty. A generator can be read only once.")
    every = chain([first], elements)
    if isinstance(first, os.PathLike) or (isinstance(first, str) and _is_path(first)):
        return GivenSources([_check_path(each, number) for number, each in enumerate(every, 1)], [], False)
    return GivenSources(None, every, not isinstance(first, str))


@contextmanager
def spooling(documents: Iterable[Any], are_tokens: bool, max_record_mib: int) -> Iterator[str]:
    """Write documents to a temporary file of JSON lines, and yield its path. Only one document is in memory.

    The name of the file contains the hash of its content, so an interrupted build of the same documents resumes.

    Raises:
        BitcipherError: if a document is not a string or not a list of tokens as the first one is, cannot be encoded, or
            is too large.
    """
    to_text: Callable[[Any, int], str] = _join_tokens if are_tokens else _check_text
    with TemporaryDirectory(prefix="bitcipher-documents-") as folder:
        digest, path = hashlib.sha256(), Path(folder, "documents")
        with path.open("wb") as file:
            for number, document in enumerate(documents, 1):
                line = _encode(to_text(document, number), number)
                if len(line) > max_record_mib << 20:
                    raise BitcipherError(
                        f"Document {number:,} has {len(line):,} bytes: split it, or raise `max_record_mib`, which is "
                        f"{max_record_mib}."
                    )
                digest.update(line)
                file.write(line)
        yield str(path.rename(Path(folder, f"documents-{digest.hexdigest()[:16]}.jsonl")))


def _is_path(text: str) -> bool:
    return not re.search(r"\s", text) and bool(_URI.fullmatch(text) or format_of(text) or os.path.exists(text))


def _check_path(element: Any, number: int) -> str:
    if not isinstance(element, str | os.PathLike):
        raise BitcipherError(f"The first source is a path, but source {number:,} is {type(element).__name__}.")
    return os.fspath(element)


def _check_text(document: Any, number: int) -> str:
    if not isinstance(document, str):
        raise BitcipherError(
            f"Document {number:,} is {type(document).__name__}, but the first one is a string: give strings, or lists "
            "of tokens."
        )
    return document


def _join_tokens(document: Any, number: int) -> str:
    if not isinstance(document, list | tuple) or not all(isinstance(token, str) for token in document):
        elements = {type(each).__name__ for each in document} if isinstance(document, list | tuple) else ()
        of = f" of {', '.join(sorted(elements))}" if elements else ""
        raise BitcipherError(f"Document {number:,} is {type(document).__name__}{of}, not a string or a list of tokens.")
    text = " ".join(document)
    if len(text.split()) != len(document):
        wrong = next(token for token in document if token.split() != [token])
        raise BitcipherError(
            f"The token {wrong!r} of document {number:,} is empty or has white space: leave it out, or join its parts, "
            "as with `_`."
        )
    return text


def _encode(text: str, number: int) -> bytes:
    try:
        return orjson.dumps({"text": text}, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        raise BitcipherError(
            f"Document {number:,} has characters that are not Unicode text (half of a surrogate pair): decode it with "
            'errors="replace".'
        ) from None
