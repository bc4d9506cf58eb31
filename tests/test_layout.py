"""Rules for all source files that no linter checks. Import contracts are in `pyproject.toml`, run by `lint-imports`."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("bitcipher", "pipelines", "training", "cluster")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MAX_LINES = 400
# Print the path of each test file that pytest collects, without importing it.
LIST_COLLECTED_FILES = """
import pytest

class Listed(pytest.File):
    def collect(self):
        return []

class ListFiles:
    def pytest_pycollect_makemodule(self, module_path, parent):
        print(module_path)
        return Listed.from_parent(parent, path=module_path)

pytest.main(["--collect-only", "-p", "no:cacheprovider"], plugins=[ListFiles()])
"""


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


def test_every_test_file_is_collected():
    listing = subprocess.run([sys.executable, "-c", LIST_COLLECTED_FILES], cwd=ROOT, capture_output=True, text=True)
    collected = {Path(line) for line in listing.stdout.splitlines()}
    assert not names([path for path in TESTS if path.name.startswith("test_") and path not in collected]), listing


# Folders of studies and of their commands. No file outside of them names their modules.
STUDIES = (ROOT / "training" / "studies", ROOT / "cluster" / "cli" / "studies")
# The table of commands names the modules of studies that have a command at the top.
COMMAND_TABLE = ROOT / "cluster" / "cli" / "main.py"


def test_every_study_has_a_smoke_test():
    tests = ROOT / "tests" / "training" / "studies"
    smoke = [path for path in TESTS if path.is_relative_to(tests) and "@pytest.mark.smoke" in path.read_text()]
    studies = {path.parent.name for path in (ROOT / "training" / "studies").glob("*/__init__.py")}
    assert studies == {path.relative_to(tests).parts[0] for path in smoke}


def test_the_product_names_no_module_of_a_study():
    product = [path for path in SOURCES if path != COMMAND_TABLE and not any(map(path.is_relative_to, STUDIES))]
    assert not names(
        [path for path in product if re.search(r"(training|cluster\.cli)[./]studies[./]\w", path.read_text())]
    )


def test_no_module_imports_another_package_by_a_name_in_a_string():
    """The table in `bitcipher/__init__.py` is the exception, and `__main__.py`, which calls the command line."""
    importing = {
        path
        for path in SOURCES
        if re.search(r"import_module\(f?\"(?!spacy|bitcipher|training\.loop|{__name__)", path.read_text())
    }
    assert names(sorted(importing)) == ["bitcipher/__main__.py"]


def test_each_room_and_each_study_has_a_readme():
    folders = [path for package in PACKAGES for path in (ROOT / package).iterdir() if (path / "__init__.py").exists()]
    folders += [path for path in STUDIES[0].iterdir() if (path / "__init__.py").exists()]
    assert not names([path for path in folders if not (path / "README.md").exists()])
