"""Commands import only the libraries that they need, each in a new process."""

import subprocess
import sys
from pathlib import Path

import pytest
from builds import OPTIONS, run_build

COMMAND = """
import gc, sys
from bitcipher.__main__ import main
try:
    main()
except SystemExit as end:
    assert not end.code
print(*sys.modules, file=sys.stderr)
assert gc.get_freeze_count() > 10_000  # so that the exit does not search all objects for garbage
"""

# Libraries that no command loads which only reads files of a build.
UNUSED = {"pandas", "spacy", "torch", "ray", "smart_open"}
NUMERIC = {"numpy", "pyarrow", "scipy", "numba"}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("imports")
    (folder / "text.txt").write_text("the cat saw the dog on the mat\n" * 20)
    run_build([folder / "text.txt"], folder / "build", OPTIONS)
    return folder / "build"


def loaded_by(*arguments: object) -> set[str]:
    """Return the modules that a new process has loaded after a command."""
    line = [sys.executable, "-c", COMMAND, *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("command", [["status"], ["status", "--json"], ["inspect"], ["inspect", "--json"]])
def test_status_and_inspect_load_no_numeric_library(built: Path, command: list[str]):
    assert not loaded_by(*command, built) & (UNUSED | NUMERIC)


def test_neighbors_load_no_compiler(built: Path):
    assert not loaded_by("neighbors", built, "cat") & (UNUSED | {"scipy", "numba"})


def test_explain_loads_neither_tokenizer_nor_readers(built: Path):
    loaded = loaded_by("explain", built, "cat", "dog")
    assert not loaded & (UNUSED - {"pandas"})
    assert not {name for name in loaded if name.startswith(("pipelines.ingest.readers", "pipelines.tokenizers"))}


def test_build_loads_no_clients_of_stores_and_servers(tmp_path: Path):
    (tmp_path / "text.txt").write_text("the cat saw the dog on the mat\n" * 20)
    loaded = loaded_by("build", tmp_path / "text.txt", "--out", tmp_path / "build", "--min-count", 1)
    assert "spacy" in loaded
    assert not loaded & {"torch", "ray", "smart_open", "boto3", "botocore", "requests", "httpx", "weasel", "spacy.cli"}
