"""Execute the notebooks, one after the other in one folder, and write their pages with all outputs as Markdown."""

import os
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter
from nbconvert.filters import strip_ansi

SECONDS_PER_CELL = 600
# Links between notebooks, which become links between their pages.
NOTEBOOK_LINK = re.compile(r"(\]\([^)\s]+)\.ipynb\)")


def write_notebooks(source: Path, target: Path, work: Path) -> None:
    """Execute all notebooks of a folder in the order of their names.

    Args:
        source: folder of the notebooks.
        target: folder of the Markdown pages and their images.
        work: folder in which the notebooks run; later ones read what earlier ones wrote.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell fails.
    """
    work.mkdir(parents=True)
    # so that cells find the command `bitcipher` of this environment
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for path in sorted(source.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        client = NotebookClient(
            notebook,
            timeout=SECONDS_PER_CELL,
            resources={"metadata": {"path": str(work)}},
            extra_arguments=["--log-level=ERROR"],
        )
        client.execute(env=environment)
        for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
            if output.output_type == "stream":
                output.text = strip_ansi(output.text)
        page, resources = MarkdownExporter().from_notebook_node(notebook, {"output_files_dir": path.stem})
        target.mkdir(parents=True, exist_ok=True)
        (target / f"{path.stem}.md").write_text(NOTEBOOK_LINK.sub(r"\1.md)", page), encoding="utf-8")
        for name, image in resources["outputs"].items():
            (target / name).parent.mkdir(exist_ok=True)
            (target / name).write_bytes(image)
