"""Rules for all source files that no linter checks. Import contracts are in `pyproject.toml`, run by `lint-imports`."""

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("bitcipher", "pipelines", "training", "cluster")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MAX_LINES = 400


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def test_no_module_is_named_after_one_of_the_standard_library():
    assert not names([path for path in (*SOURCES, *TESTS) if path.stem in sys.stdlib_module_names])


def test_no_file_is_too_long():
    assert not names([path for path in (*SOURCES, *TESTS) if len(path.read_text().splitlines()) > MAX_LINES])


def test_no_two_classes_share_a_name():
    classes = Counter(
        node.name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert not [name for name, number in classes.items() if number > 1]
