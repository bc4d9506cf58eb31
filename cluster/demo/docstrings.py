"""Docstrings of installed Python packages, as English text. Sources are parsed, never executed."""

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

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.runtime.progress import StageProgress

PACKAGE_FOLDERS = ("site-packages", "dist-packages")

# Tests are a quarter of all source code but contain a fiftieth of all docstrings. The directories of packages are
# skipped inside the standard library, because they are roots of their own.
SKIPPED_FOLDERS = {"test", "tests", *PACKAGE_FOLDERS}

# Larger files are generated code, and a syntax tree takes a hundred times the memory of the source.
MAX_FILE_BYTES = 1 << 20

# Parsing takes one second for about 10 MB, which contain 200,000 tokens. More text would not improve the demo.
MAX_SOURCE_BYTES = 300_000_000

# A paragraph is English if at least this share of its strings between spaces are words. This excludes parameter lists,
# tables and code, and improves the neighbors of frequent words: those of `two` are "three the previous openings"
# without this rule, and "three four several various" with it.
WORD_SHARE = 0.75

# Minimum number of strings between spaces in a paragraph.
MIN_STRINGS = 4

_WORD = re.compile(r"[A-Za-z][a-z]*(?:['’-][A-Za-z]+)*")
_ROLE = re.compile(r":[A-Za-z:]{1,30}:`~?([^`]*)`")
_MARKUP = re.compile(r"`|\*\*")


@dataclass(frozen=True)
class SourceFile:
    """A Python file."""

    path: Path
    """Path of the file."""
    name: str
    """Path relative to the root directory in which the file was found, with slashes."""
    size: int
    """Size in bytes."""


def installed_roots() -> list[Path]:
    """Return the directories of the standard library and of installed packages, in the order of `sys.path`."""
    packages = [Path(entry) for entry in sys.path if Path(entry).name in PACKAGE_FOLDERS]
    return list(dict.fromkeys([Path(sysconfig.get_path("stdlib")), *packages]))


def installed_docstrings(step: int = 1) -> list[str]:
    """Return English paragraphs from the docstrings of the installed packages, each once: a text to try things on.

    Args:
        step: read each `step`-th Python file, to save time.
    """
    documents: dict[str, None] = {}
    for file in list_python_files(installed_roots())[::step]:
        for _, docstring in read_docstrings(file.path):
            documents |= dict.fromkeys(extract_prose(docstring))
    return list(documents)


def write_docstrings(roots: Iterable[Path], target: str, progress: StageProgress) -> None:
    """Write the docstrings of Python files as compressed JSON lines with the fields `text` and `source`.

    Equal files give equal bytes.

    Args:
        roots: directories whose Python files are read.
        target: path or URI of the file.
        progress: progress display.

    Raises:
        BitcipherError: if the files contain no English docstrings.
    """
    files = list_python_files(roots)
    bar = progress.begin("docstrings", sum(file.size for file in files))
    seen: set[str] = set()
    documents = 0
    with (
        storage.writing(target) as stream,
        gzip.GzipFile(filename="", mode="wb", fileobj=stream, compresslevel=6, mtime=0) as packed,
        _without_garbage_collection(),
    ):
        for file in files:
            for line, docstring in read_docstrings(file.path):
                paragraphs = [text for text in dict.fromkeys(extract_prose(docstring)) if text not in seen]
                seen.update(paragraphs)
                if paragraphs:
                    record = {"text": "\n".join(paragraphs), "source": f"{file.name}:{line}"}
                    packed.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
                    documents += 1
            progress.advance(bar, file.size, f"{documents:,} docstrings")
        if not documents:
            raise BitcipherError("Found no docstrings: the demo needs installed Python packages with their sources.")
    progress.end(bar)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection, which takes a third of the time and finds nothing: syntax trees have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def list_python_files(roots: Iterable[Path]) -> list[SourceFile]:
    """Return the Python files below some directories, without tests and large files.

    The files of a directory are sorted by name and precede those of its subdirectories. The total size is limited by
    `MAX_SOURCE_BYTES`.
    """
    files = []
    remaining_bytes = MAX_SOURCE_BYTES
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
            for name in sorted(names):
                path = Path(folder, name)
                max_bytes = min(remaining_bytes, MAX_FILE_BYTES)
                if path.suffix == ".py" and path.is_file() and path.stat().st_size <= max_bytes:
                    files.append(SourceFile(path, path.relative_to(root).as_posix(), path.stat().st_size))
                    remaining_bytes -= files[-1].size
    return files


def read_docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line number and text of each docstring of a file.

    A file that cannot be read or parsed, or is not UTF-8, has no docstrings.
    """
    try:
        content = path.read_bytes()
        # Files without triple quotes cannot contain a docstring.
        if b'"""' not in content and b"'''" not in content:
            return
        with warnings.catch_warnings(action="ignore"):  # invalid escapes in other packages
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
        # Only statements contain definitions; most nodes are expressions.
        inside = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
        ]
        pending.extend(reversed(inside))


def extract_prose(docstring: str) -> Iterator[str]:
    """Yield the English paragraphs of a docstring, each on one line and without markup."""
    # A string literal can contain a lone surrogate, which cannot be encoded.
    text = docstring.encode(errors="replace").decode()
    text = _MARKUP.sub("", _ROLE.sub(r"\1", text))
    for paragraph in _paragraphs(text.splitlines()):
        strings = paragraph.split()
        words = sum(_WORD.fullmatch(string.strip(".,;:!?()\"'")) is not None for string in strings)
        if len(strings) >= MIN_STRINGS and words >= WORD_SHARE * len(strings):
            yield " ".join(strings)


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """Yield paragraphs, without interactive examples. A blank line or a new indentation ends a paragraph."""
    paragraph: list[str] = []
    indentation = 0
    in_example = False
    for line in [*lines, ""]:
        text = line.strip()
        in_example = bool(text) and (in_example or text.startswith(">>>"))
        starts_paragraph = len(line) - len(line.lstrip()) != indentation and not text[:1].islower()
        if paragraph and (not text or in_example or starts_paragraph):
            yield " ".join(paragraph)
            paragraph = []
        if text and not in_example:
            paragraph.append(text)
            indentation = len(line) - len(line.lstrip())
