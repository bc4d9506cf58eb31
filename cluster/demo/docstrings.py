"""English that is on every machine with Python packages: the docstrings of their sources, of which nothing is run."""

import ast
import gc
import gzip
import json
import os
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.runtime.progress import StageProgress

PACKAGE_FOLDERS = ("site-packages", "dist-packages")

# Tests are a quarter of all source and a fiftieth of all docstrings. Packages are roots of their own.
SKIPPED_FOLDERS = {"test", "tests", *PACKAGE_FOLDERS}

# A larger file is generated, and its syntax tree takes a hundred times as much memory.
LARGEST_FILE_BYTES = 1 << 20

# Some 10 MB are parsed in a second, and hold 200,000 tokens: what comes after that would only take time.
MOST_SOURCE_BYTES = 300_000_000

# A paragraph is English if so many of its pieces are words; lists of parameters, tables and code are not.
# Chosen by the neighbors of frequent words: without it those of `two` began with "three the previous openings",
# with it "three four several various".
WORD_SHARE = 0.75

FEWEST_PIECES = 4

_WORD = re.compile(r"[A-Za-z][a-z]*(?:['’-][A-Za-z]+)*")
_ROLE = re.compile(r":[A-Za-z:]{1,30}:`~?([^`]*)`")
_MARKUP = re.compile(r"`|\*\*")


@dataclass(frozen=True)
class SourceFile:
    """A Python file, and its name below the root that it was found in."""

    path: Path
    name: str
    size: int


def installed_roots() -> list[Path]:
    """The folders of the standard library and of installed packages, in the order of `sys.path`."""
    packages = [Path(entry) for entry in sys.path if Path(entry).name in PACKAGE_FOLDERS]
    return list(dict.fromkeys([Path(sysconfig.get_path("stdlib")), *packages]))


def write_docstrings(roots: Iterable[Path], target: str, progress: StageProgress) -> None:
    """Write the docstrings below the roots as compressed JSON lines of `text` and `source`, the same bytes each time.

    Args:
        roots: folders of packages.
        target: the file, by path or URI.
        progress: where to show how far it is.

    Raises:
        BitcipherError: if there is none.
    """
    files = list_files(roots)
    bar = progress.begin("docstrings", sum(file.size for file in files))
    seen: set[str] = set()
    documents = 0
    with (
        storage.writing(target) as stream,
        gzip.GzipFile(filename="", mode="wb", fileobj=stream, compresslevel=6, mtime=0) as packed,
        _without_collection(),
    ):
        for file in files:
            for line, docstring in read_docstrings(file.path):
                paragraphs = [text for text in dict.fromkeys(prose(docstring)) if text not in seen]
                seen.update(paragraphs)
                if paragraphs:
                    record = {"text": "\n".join(paragraphs), "source": f"{file.name}:{line}"}
                    packed.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
                    documents += 1
            progress.advance(bar, file.size, f"{documents:,} docstrings")
        if not documents:
            raise BitcipherError("There are no docstrings to read: the demo needs Python packages with their sources.")
    progress.end(bar)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Without Python's search for cycles: syntax trees have none, and it takes a third of the time to find that."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def list_files(roots: Iterable[Path]) -> list[SourceFile]:
    """The Python files below the roots, without tests and what is too large.

    A folder's own files come in the order of their names, and then its folders.
    """
    files = []
    room = MOST_SOURCE_BYTES
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
            for name in sorted(names):
                path = Path(folder, name)
                if path.suffix == ".py" and path.is_file() and path.stat().st_size <= min(room, LARGEST_FILE_BYTES):
                    files.append(SourceFile(path, path.relative_to(root).as_posix(), path.stat().st_size))
                    room -= files[-1].size
    return files


def read_docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings of a file with their lines: its own, and those of its classes and functions.

    The file is parsed and never run. One that cannot be read, is not UTF-8 or does not parse has none.
    """
    try:
        content = path.read_bytes()
        # Most files without any docstring need not be parsed to know it.
        if b'"""' not in content and b"'''" not in content:
            return
        with warnings.catch_warnings(action="ignore"):  # the parser has opinions about others' escapes
            tree = ast.parse(content.decode("utf-8-sig"))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node.body[0].lineno, docstring
        # Definitions stand only in statements; expressions are most of a tree.
        inside = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
        ]
        pending.extend(reversed(inside))


def prose(docstring: str) -> Iterator[str]:
    """The paragraphs of a docstring that are English, each on one line and without markup."""
    # A literal may spell half of a surrogate pair, which no file can hold.
    text = docstring.encode(errors="replace").decode()
    text = _MARKUP.sub("", _ROLE.sub(r"\1", text))
    for paragraph in _paragraphs(text.splitlines()):
        pieces = paragraph.split()
        words = sum(_WORD.fullmatch(piece.strip(".,;:!?()\"'")) is not None for piece in pieces)
        if len(pieces) >= FEWEST_PIECES and words >= WORD_SHARE * len(pieces):
            yield " ".join(pieces)


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """Lines joined until a blank one, or one that starts anew at another indentation; examples are left out."""
    paragraph: list[str] = []
    indentation = 0
    in_example = False
    for line in [*lines, ""]:
        text = line.strip()
        in_example = bool(text) and (in_example or text.startswith(">>>"))
        starts_anew = len(line) - len(line.lstrip()) != indentation and not text[:1].islower()
        if paragraph and (not text or in_example or starts_anew):
            yield " ".join(paragraph)
            paragraph = []
        if text and not in_example:
            paragraph.append(text)
            indentation = len(line) - len(line.lstrip())
