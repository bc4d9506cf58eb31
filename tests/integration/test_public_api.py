"""The stable names: one list in code and in `docs/api.md`, and the only ones that pages for users import."""

import ast
import json
import re
from pathlib import Path

import bitcipher

ROOT = Path(__file__).parents[2]
API = (ROOT / "docs" / "api.md").read_text()
# Modules that are stable as such: importing them has an effect.
MODULES = {"training.models.architectures"}
# Pages for users. Those of the rooms are for contributors, and say so.
PAGES = [ROOT / name for name in ("README.md", "bitcipher/README.md", "training/README.md", "docs/api.md")]
PAGES += sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def code_of(page: Path) -> str:
    """Return the Python code of a page."""
    if page.suffix == ".ipynb":
        cells = [cell["source"] for cell in json.loads(page.read_text())["cells"] if cell["cell_type"] == "code"]
        lines = [line for cell in cells for line in "".join(cell).splitlines()]
    else:
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
        lines = [line for block in blocks for line in block.splitlines()]
    return "\n".join(line for line in lines if not line.startswith(("%", "!")))


def our_imports(code: str) -> set[str]:
    """Return the names that code imports from our packages, with their modules."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.partition(".")[0] in ("bitcipher", "pipelines", "training", "cluster")}


def test_the_page_lists_the_names_of_the_package():
    cells = [line.split("|")[1] for line in API.splitlines() if line.startswith("| `")]
    listed = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    assert listed == set(bitcipher.__all__) | {f"import {module}" for module in MODULES}


def test_the_names_are_one_table():
    names = [name for names in bitcipher._NAMES.values() for name in names]
    assert sorted(names) == sorted(bitcipher.__all__)
    tree = ast.parse(Path(bitcipher.__file__).read_text())
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = {
        node.module: tuple(alias.name for alias in node.names)
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
    }
    assert imports == bitcipher._NAMES


def test_pages_for_users_import_only_stable_names():
    stable = {f"bitcipher.{name}" for name in bitcipher.__all__} | MODULES | {"bitcipher"}
    found = {page.relative_to(ROOT): our_imports(code_of(page)) - stable for page in PAGES}
    assert not {page: names for page, names in found.items() if names}
    assert our_imports(code_of(ROOT / "README.md"))
