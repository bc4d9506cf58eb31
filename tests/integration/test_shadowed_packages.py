"""Packages of other code with the names `pipelines`, `training` and `cluster`, and the command `bitcipher`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def bitcipher(
    *arguments: object, path: Path | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command with a folder before the other folders of Python's path."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, (path, ROOT))))}
    # -P: as in an installed script, the working directory is not in Python's path.
    command = [sys.executable, "-P", "-m", "bitcipher", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, env=environment, check=False)


@pytest.mark.parametrize("name", ["pipelines", "training", "cluster"])
@pytest.mark.parametrize("file", ["{}.py", "{}/__init__.py"])
def test_packages_of_other_code_are_refused_in_one_sentence(tmp_path, name, file):
    other = tmp_path / file.format(name)
    other.parent.mkdir(exist_ok=True)
    other.write_text('raise ImportError("other code")\n')
    result = bitcipher("--version", path=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith(f"bitcipher: Python imports the package `{name}` from {other}, but that of")
    assert str(ROOT / name) in result.stderr


def test_file_that_another_distribution_replaced_is_refused(tmp_path):
    for name in ("bitcipher", "cluster", "pipelines", "training"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "training").unlink()
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "__init__.py").write_text("# of another distribution\n")
    result = bitcipher("--version", path=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "Python imports the package `training` from" in result.stderr


def test_packages_in_the_working_directory_are_not_imported(tmp_path):
    for name in ("pipelines", "training", "cluster"):
        (tmp_path / f"{name}.py").write_text('raise ImportError("code of the user")\n')
    result = bitcipher("--version", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
