"""English sample text of `bitcipher plan` for users who give none: docstrings of installed packages."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from cluster.demo.docstrings import extract_prose, installed_roots, list_python_files, read_docstrings
from pipelines.estimate.sample import write_documents

# Size of the parsed source code in bytes. Parsing it takes a few seconds. A tenth of the code is English text.
SOURCE_BYTES = 25_000_000


@contextmanager
def docstring_sample() -> Iterator[str]:
    """Yield the path of a temporary file of JSON lines with the docstrings of every n-th file of all packages."""
    files = list_python_files(installed_roots())
    stride = max(1, sum(file.size for file in files) // SOURCE_BYTES)
    paragraphs = (
        "\n".join(extract_prose(docstring)) for file in files[::stride] for _, docstring in read_docstrings(file.path)
    )
    with TemporaryDirectory(prefix="bitcipher-plan-") as folder:
        target = os.path.join(folder, "docstrings.jsonl")
        write_documents(target, filter(None, dict.fromkeys(paragraphs)))
        yield target
