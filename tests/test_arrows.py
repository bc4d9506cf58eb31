"""Which package may know which, and what the files of all packages keep to."""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("bitcipher", "pipelines", "training", "cluster")
FILES = sorted(path for package in (*PACKAGES, "tests") for path in (ROOT / package).rglob("*.py"))

FORBIDDEN = {
    "bitcipher": {"ray", "torch", "transformers", "pipelines", "training", "cluster"},
    "pipelines": {"torch", "transformers", "training", "cluster"},
    "training": {"pipelines", "cluster"},
    "cluster": {"torch", "transformers"},
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


def run_on_import(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a file that happen when it is imported itself: not those within functions or for types alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.FunctionDef) and not (
            isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        ):
            yield from run_on_import(child)


def modules_of(package: str) -> dict[str, list[Path]]:
    """The files of each module or package that lies directly in one of the packages."""
    inside = [path for path in (ROOT / package).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    files = {path.stem: sorted(path.rglob("*.py")) if path.is_dir() else [path] for path in inside}
    return {name: paths for name, paths in files.items() if name != "__init__"}


def arrows_within(package: str) -> dict[str, set[str]]:
    """Which modules of a package those of `modules_of` import on their own import."""
    arrows = {}
    for name, paths in modules_of(package).items():
        imported = set()
        for node in (node for path in paths for node in run_on_import(ast.parse(path.read_text()))):
            if isinstance(node, ast.ImportFrom):
                imported |= {f"{node.module}.{alias.name}" for alias in node.names}
            else:
                imported |= {alias.name for alias in node.names}
        targets = {full.split(".")[1] for full in imported if full.startswith(f"{package}.")}
        arrows[name] = (targets & set(modules_of(package))) - {name}
    return arrows


def table_of(package: str) -> dict[str, set[str]]:
    """The modules that the package's README lists, with those that its last column lets each import."""
    named = {}
    for line in (ROOT / package / "README.md").read_text().splitlines():
        if line.startswith(("| `", "| [`")):
            first, *_, last = line.strip("| ").split("|")
            allowed = set(re.findall(r"`(\w+)", last))
            named |= {name: allowed for name in re.findall(r"`(\w+)(?:\.py|/)?`", first)}
    return named


every_file = pytest.mark.parametrize("path", FILES, ids=name_of)


def test_packages_are_found():
    assert {"bitcipher", "pipelines", "tests"} <= {path.relative_to(ROOT).parts[0] for path in FILES}


@every_file
def test_arrows_point_one_way(path):
    assert not set(imports_of(path)) & FORBIDDEN[path.relative_to(ROOT).parts[0]]


@pytest.mark.parametrize("package", PACKAGES)
def test_modules_of_a_package_import_each_other_one_way(package):
    # Fails with the circle if there is one.
    tuple(TopologicalSorter(arrows_within(package)).static_order())


@pytest.mark.parametrize("package", PACKAGES)
def test_the_table_of_a_readme_lists_every_module(package):
    assert set(modules_of(package)) <= set(table_of(package))


@pytest.mark.parametrize("package", ["bitcipher", "training"])
def test_modules_import_what_the_table_of_their_readme_lets_them(package):
    allowed = table_of(package)
    order = TopologicalSorter({name: allowed[name] for name in modules_of(package)}).static_order()
    behind: dict[str, set[str]] = {}
    for name in order:  # what a module may import, it may import with all behind it
        behind[name] = allowed[name].union(*(behind[other] for other in allowed[name]))
    for name, imported in arrows_within(package).items():
        assert imported <= behind[name], name


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
