"""The notebooks of docs/notebooks, which `make docs` executes."""

import re
from pathlib import Path

import nbformat
import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


def test_readme_lists_all_notebooks():
    text = (DOCS.parent / "README.md").read_text()
    assert [path.name for path in NOTEBOOKS] == re.findall(r"docs/notebooks/([\w-]+\.ipynb)", text)


def test_gallery_has_all_figures():
    figures = {path.name for path in DOCS.glob("*.png")}
    assert set(re.findall(r"\]\(([\w-]+\.png)\)", (DOCS / "gallery.md").read_text())) == figures
