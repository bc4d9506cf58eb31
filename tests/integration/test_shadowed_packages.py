"""Packages of other code with the names `pipelines`, `training` and `cluster`, and the command `bitcipher`."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMES = ("pipelines", "training", "cluster")


def run(*options: object, path: Path | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with a folder before the other folders of its path."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, (path, ROOT))))}
    command = [sys.executable, *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, env=environment, check=False)


def test_packages_of_bitcipher_win_over_other_code(tmp_path):
    for name, file in zip(NAMES, ("pipelines.py", "training/__init__.py", "cluster.py"), strict=True):
        other = tmp_path / file
        other.parent.mkdir(exist_ok=True)
        other.write_text(f'raise ImportError("{name} is other code")\n')
    result = run("-m", "bitcipher", "--version", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    (tmp_path / "corpus.txt").write_text("the cat saw the dog\n" * 40)
    result = run(
        "-m", "bitcipher", "build", "corpus.txt", "--out", "books", "--workers", 1, "-q", path=tmp_path, cwd=tmp_path
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "books").is_dir()


def test_other_code_that_is_already_imported_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "training.py").write_text("")
    result = run("-P", "-c", "import training; from bitcipher.__main__ import main; main()", path=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith(f"bitcipher: Python imports the package `training` from {tmp_path / 'training.py'}")
    assert str(ROOT / "training") in result.stderr


def test_file_that_another_distribution_replaced_is_refused(tmp_path):
    for name in ("bitcipher", *NAMES):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "training").unlink()
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "__init__.py").write_text("# of another distribution\n")
    result = run("-P", "-m", "bitcipher", "--version", path=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "Python imports the package `training` from" in result.stderr
