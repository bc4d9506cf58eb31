"""Which package may know which, and what the files of all packages keep to."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("bitcipher", "pipelines", "training", "cluster")
FILES = sorted(path for package in (*PACKAGES, "tests") for path in (ROOT / package).rglob("*.py"))

FORBIDDEN = {
    "bitcipher": {"ray", "torch", "transformers", "pipelines", "training", "cluster"},
    "pipelines": {"torch", "transformers", "training", "cluster"},
    "training": {"pipelines", "cluster"},
    "cluster": set(),
    "tests": set(),
}
# Formats that run code when they are read.
UNSAFE = {"pickle", "cloudpickle", "dill", "marshal", "shelve"}


def name_of(path):
    return str(path.relative_to(ROOT))


def imports_of(path):
    """The top-level names of all imports of a file, those within functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield path.relative_to(ROOT).parts[0] if node.level else node.module.partition(".")[0]


every_file = pytest.mark.parametrize("path", FILES, ids=name_of)


def test_packages_are_found():
    assert {"bitcipher", "pipelines", "tests"} <= {path.relative_to(ROOT).parts[0] for path in FILES}


@every_file
def test_arrows_point_one_way(path):
    assert not set(imports_of(path)) & FORBIDDEN[path.relative_to(ROOT).parts[0]]


def test_one_module_of_pipelines_imports_ray():
    importing = {name_of(path) for path in FILES if "ray" in imports_of(path)}
    assert {name for name in importing if name.startswith("pipelines")} == {"pipelines/runtime.py"}


@every_file
def test_no_module_is_named_after_one_of_the_standard_library(path):
    assert path.stem not in sys.stdlib_module_names


@every_file
def test_no_file_is_longer_than_400_lines(path):
    assert len(path.read_text().splitlines()) <= 400


@every_file
def test_nothing_is_stored_in_a_format_that_runs_code(path):
    assert path.relative_to(ROOT).parts[0] == "tests" or not set(imports_of(path)) & UNSAFE
