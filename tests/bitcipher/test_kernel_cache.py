"""The cache of kernels: a change of a module that a kernel imports is noticed, and numba's settings are kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bitcipher.kernel_cache import sources_digest

KERNEL = "from bitcipher.kernel_cache import kernel\nfrom sums.parts import OFFSET\nfrom sums.parts import add\n"
KERNEL += "\n@kernel\ndef total(number):\n    return add(number) + OFFSET\n"
PARTS = "from bitcipher.kernel_cache import kernel\nfrom sums.constants import ONE\nOFFSET = 100\n"
PARTS += "\n@kernel\ndef add(number):\n    return number + ONE\n"
RUN = "from sums.kernels import total; print(total(5), total.stats.cache_hits)"


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    """Package of a kernel that calls a kernel of another module, which uses a constant of a third one."""
    folder = tmp_path / "sums"
    folder.mkdir()
    for name, source in (("__init__", ""), ("kernels", KERNEL), ("parts", PARTS), ("constants", "ONE = 1\n")):
        (folder / f"{name}.py").write_text(source)
    return folder


def run(folder: Path, environment: dict[str, str] | None = None) -> tuple[int, int]:
    """Run the kernel in a new process; return its result and the number of functions that came from the cache."""
    root = Path(__file__).parents[2]
    variables = os.environ | {"PYTHONPATH": f"{folder.parent}{os.pathsep}{root}"} | (environment or {})
    output = subprocess.run(
        [sys.executable, "-c", RUN.replace("total.stats.cache_hits", "sum(total.stats.cache_hits.values())")],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    result, hits = output.split()
    return int(result), int(hits)


def test_changed_modules_that_a_kernel_imports_are_compiled_again(sums):
    assert run(sums) == (106, 0)
    assert run(sums) == (106, 1)
    (sums / "parts.py").write_text(PARTS.replace("100", "200"))
    assert run(sums)[0] == 206
    (sums / "constants.py").write_text("ONE = 2  # of another size, because Python compares sizes and seconds\n")
    assert run(sums)[0] == 207
    assert run(sums) == (207, 1)


def test_cache_folder_of_the_user_is_used(sums, tmp_path):
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(sums, environment) == (106, 0)
    assert run(sums, environment) == (106, 1)
    assert list((tmp_path / "cache").rglob("*.nbi"))
    assert not list(sums.rglob("*.nbi"))


def test_without_compilation_kernels_are_functions(sums):
    code = "from sums.kernels import total; print(total(5), 0)"
    variables = os.environ | {"PYTHONPATH": f"{sums.parent}{os.pathsep}{Path(__file__).parents[2]}"}
    variables["NUMBA_DISABLE_JIT"] = "1"
    output = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    assert output.stdout == "106 0\n"


def test_digest_follows_imports_over_several_lines(tmp_path):
    (tmp_path / "sums").mkdir()
    main, other = tmp_path / "sums" / "main.py", tmp_path / "sums" / "other.py"
    main.write_text("from sums import (\n    something,\n    other,\n)\n")
    digests = []
    for source in ("A = 1\n", "A = 2\n"):
        other.write_text(source)
        sources_digest.cache_clear()
        digests.append(sources_digest(main, tmp_path, "sums"))
    assert digests[0] != digests[1]
