"""Collect the pages for `mkdocs build`: those of the repository, linked files, notebooks, and the API reference.

Usage: python docs/build_pages.py TARGET
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from run_notebooks import NOTEBOOK_LINK, write_notebooks

import bitcipher

ROOT = Path(__file__).parent.parent
PACKAGES = ("bitcipher", "pipelines", "training", "cluster")
# Prefix of the images in README.md, which are URLs so that PyPI shows them.
RAW_URL = "https://raw.githubusercontent.com/bitcipher/bitcipher/main/"
# Files that become pages themselves.
PAGE_SUFFIXES = (".md", ".ipynb")
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def copy_pages(target: Path) -> None:
    """Copy all pages and the files they link to, in the layout of the repository, so that relative links work."""
    pages = [
        *ROOT.glob("*.md"),
        *(page for name in (*PACKAGES, "docs", "tests") for page in (ROOT / name).rglob("*.md")),
    ]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for link in LINK.findall(text):
            linked = (page.parent / link).resolve()
            if linked.is_file() and linked.suffix not in PAGE_SUFFIXES:
                copy = target / linked.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(linked, copy)
        copy = target / page.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        depth = len(page.relative_to(ROOT).parts) - 1
        text = NOTEBOOK_LINK.sub(r"\1.md)", text.replace(RAW_URL, "../" * depth))
        copy.write_text(text, encoding="utf-8")
    for image in (ROOT / "docs").glob("*.png"):
        shutil.copyfile(image, target / "docs" / image.name)


def write_reference(target: Path) -> None:
    """Write a page of the stable names, a page per module or subpackage of the four packages, and an index of them."""
    stable = [f"::: {module}.{name}\n" for module, names in bitcipher._NAMES.items() for name in names]
    (target / "stable.md").write_text("\n".join(["# Stable names\n", *stable]), encoding="utf-8")
    index = [
        "# API reference\n",
        "[Stable names](stable.md) are documented first, and [by purpose](../docs/api.md). All others may change.",
    ]
    for package in PACKAGES:
        index.append(f"\n## {package}\n")
        for path in sorted(filter(_is_public, (ROOT / package).iterdir())):
            name = f"{package}.{path.stem}"
            (target / f"{name}.md").write_text(f"# {name}\n\n::: {name}\n", encoding="utf-8")
            index.append(f"- [`{name}`]({name}.md)")
    (target / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")


def _is_public(path: Path) -> bool:
    """Return whether a path is a public module or a subpackage."""
    return (path / "__init__.py").exists() or (path.suffix == ".py" and not path.stem.startswith("_"))


def main() -> None:
    """Replace the target directory by a new one with the pages."""
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    (target / "reference").mkdir(parents=True)
    copy_pages(target)
    with tempfile.TemporaryDirectory() as folder:
        write_notebooks(ROOT / "docs" / "notebooks", target / "docs" / "notebooks", Path(folder, "work"))
    write_reference(target / "reference")


if __name__ == "__main__":
    main()
