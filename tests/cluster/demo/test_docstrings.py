"""Docstrings as text: English paragraphs, each once, without executing any code."""

import gzip
import json
import os
import shutil
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from cluster.demo import docstrings
from cluster.demo.docstrings import extract_prose, installed_roots, list_python_files, read_docstrings, write_docstrings
from pipelines.runtime.progress import StageProgress

MODULE = '''"""The module says what it is for."""

import does_not_exist
open("was_run", "w").close()
raise SystemExit("a package was run")

class Thing:
    """A thing that can be counted."""

    def method(self):
        """Return the number of things."""

        async def inner():
            """Wait for the things to come."""

try:
    import fast
except ImportError:
    def slow():
        r"""Do the same \\d as fast does."""

def copied():
    """Return the number of things."""

def half():
    """Half a pair \\ud800 is written as something else."""

not_one = """This is a string and no docstring."""
'''

EXPECTED = {
    "beta.py:1": "Only the beta module says this.",
    "alpha/__init__.py:1": "The module says what it is for.",
    "alpha/__init__.py:8": "A thing that can be counted.",
    "alpha/__init__.py:11": "Return the number of things.",
    "alpha/__init__.py:14": "Wait for the things to come.",
    "alpha/__init__.py:20": "Do the same \\d as fast does.",
    "alpha/__init__.py:26": "Half a pair ? is written as something else.",
}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    root = tmp_path / "site-packages"
    (root / "alpha" / "tests").mkdir(parents=True)
    (root / "alpha" / "__init__.py").write_text(MODULE)
    (root / "alpha" / "broken.py").write_text('"""This file does not parse."""\ndef (:\n')
    (root / "alpha" / "latin.py").write_bytes(
        '# coding: latin-1\n"""Ça ne se décode pas du tout."""\n'.encode("latin-1")
    )
    (root / "alpha" / "nul.py").write_bytes(b'"""A file with a null byte."""\0\n')
    (root / "alpha" / "deep.py").write_text('"""A file that is too deep."""\n' + "(" * 10_000 + ")" * 10_000)
    (root / "alpha" / "folder.py").mkdir()
    os.symlink(root / "nowhere", root / "alpha" / "dangling.py")
    os.mkfifo(root / "alpha" / "waits.py")
    (root / "alpha" / "notes.txt").write_text('"""This is no Python file."""')
    (root / "alpha" / "tests" / "test_alpha.py").write_text('"""A test is left out here."""')
    (root / "alpha" / "large.py").write_text('"""A large file is generated."""\n' + "#" * docstrings.MAX_FILE_BYTES)
    (root / "beta.py").write_bytes(b'\xef\xbb\xbf"""Only the beta module says this."""\n')
    (root / "vendored").mkdir()
    (root / "vendored" / "__init__.py").write_text(MODULE)
    return root


def collect(roots: list[Path], target: Path) -> dict[str, str]:
    write_docstrings(roots, str(target), StageProgress())
    records = [json.loads(line) for line in gzip.decompress(target.read_bytes()).splitlines()]
    assert all(record.keys() == {"text", "source"} for record in records)
    return {record["source"]: record["text"] for record in records}


def test_docstrings_are_read_once_and_no_code_is_executed(packages, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = collect([packages], tmp_path / "found.jsonl.gz")
    assert found == EXPECTED
    assert list(found) == list(EXPECTED)
    assert not (tmp_path / "was_run").exists()


def test_same_packages_give_the_same_bytes_in_any_directory(packages, tmp_path):
    (packages / "alpha" / "waits.py").unlink()  # cannot be copied
    elsewhere = tmp_path / "elsewhere" / "site-packages"
    shutil.copytree(packages, elsewhere, symlinks=True)
    collect([packages], tmp_path / "one.jsonl.gz")
    collect([elsewhere], tmp_path / "other.jsonl.gz")
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "other.jsonl.gz").read_bytes()


def test_nested_site_packages_are_separate_roots(packages):
    names = {file.name for file in list_python_files([packages.parent])}
    assert names == set()
    assert "beta.py" in {file.name for file in list_python_files([packages])}


def test_total_size_of_sources_is_limited(packages, monkeypatch):
    whole = list_python_files([packages])
    monkeypatch.setattr(docstrings, "MAX_SOURCE_BYTES", sum(file.size for file in whole[:3]))
    assert list_python_files([packages]) == whole[:3]


def test_parser_warnings_are_suppressed(tmp_path, recwarn):
    path = tmp_path / "escapes.py"
    path.write_text('"""A docstring with \\d in it."""\nx = "\\d"\n')
    assert list(read_docstrings(path)) == [(1, "A docstring with \\d in it.")]
    assert not recwarn.list


def test_packages_without_docstrings_raise_and_leave_no_file(tmp_path):
    with pytest.raises(BitcipherError, match="packages with their sources"):
        write_docstrings([tmp_path], str(tmp_path / "none.jsonl.gz"), StageProgress())
    assert list(tmp_path.iterdir()) == []


def test_installed_packages_and_the_standard_library_are_roots():
    roots = installed_roots()
    assert any(Path(numpy.__file__).is_relative_to(root) for root in roots)
    assert any(Path(json.__file__).is_relative_to(root) for root in roots)


@pytest.mark.parametrize(
    ("docstring", "paragraphs"),
    [
        ("Return a copy.", []),
        ("Return a copy of it.", ["Return a copy of it."]),
        ("Two lines are one\nparagraph of text.", ["Two lines are one paragraph of text."]),
        (
            "The first part ends here.\n\nAnd the second follows it.",
            ["The first part ends here.", "And the second follows it."],
        ),
        (
            "Ask :class:`~numpy.ndarray` or ``numpy`` for **more** of it.",
            ["Ask numpy.ndarray or numpy for more of it."],
        ),
        ("x : array_like, optional, default=1\n    The values to be counted.", ["The values to be counted."]),
        ("x: The values that are\n    counted one by one.", ["x: The values that are counted one by one."]),
        (
            "This is shown below:\n>>> print(all of the words)\nall of the words\n\nAnd so it ends.",
            ["This is shown below:", "And so it ends."],
        ),
        ("name    default    meaning\n=======  =========  ==========\na    1    2    3", []),
    ],
)
def test_only_english_paragraphs_are_kept(docstring, paragraphs):
    assert list(extract_prose(docstring)) == paragraphs


@given(st.text(st.characters(codec=None) | st.sampled_from(":`>\n  aB"), max_size=200))
def test_prose_of_any_docstring_can_be_encoded(docstring):
    for paragraph in extract_prose(docstring):
        assert paragraph.encode().decode() == paragraph
        assert paragraph == " ".join(paragraph.split())
