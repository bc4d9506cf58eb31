"""Imports stay light: heavy libraries are loaded only by the features that need them."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "scipy", "pydantic", "fsspec", "yaml", "pyarrow", "numpy", "ray", "torch")
LOAD_AND_QUERY = """
from bitcipher import CipherVectors
CipherVectors(["a", "b"], [[1, 0], [1, 1]]).save("memory://import/table", overwrite=True)
CipherVectors.load("memory://import/table").most_similar("a")
"""


def loaded_libraries(code: str) -> set[str]:
    """Return the heavy libraries that a new interpreter has loaded after some code."""
    command = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    return {name for name in HEAVY if name in done.stdout.split()}


def test_import_loads_no_heavy_library():
    assert loaded_libraries("import bitcipher\nassert bitcipher.__version__") == set()


def test_loading_and_querying_vectors_loads_no_numba():
    assert not loaded_libraries(LOAD_AND_QUERY) & {"numba", "scipy", "ray", "torch"}


def test_public_names_are_imported_on_first_use():
    import bitcipher

    assert set(bitcipher.__all__) <= set(dir(bitcipher))
    assert all(getattr(bitcipher, name) is not None for name in bitcipher.__all__)
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        bitcipher.missing  # noqa: B018
