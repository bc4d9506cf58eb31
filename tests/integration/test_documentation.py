"""What the READMEs and docstrings show is run: commands in `sh`, code in `python`, recipes in `yaml`, examples."""

import doctest
import gzip
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.command import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder: a corpus, and the README's recipe."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "corpus").mkdir()
    words = "two three house street man woman said saw went the a of and to in she he it".split()
    lines = (f'{{"text": "{" ".join(words[(i * j) % len(words)] for j in range(1, 60))}"}}\n' for i in range(1, 300))
    content = "".join(lines).encode()
    (folder / "corpus" / "part-0.jsonl.gz").write_bytes(gzip.compress(content))
    (recipe,) = blocks(README, "yaml")
    (folder / "recipe.yaml").write_text(recipe)
    return folder


@pytest.mark.long
def test_commands_of_the_readme(ray_cluster, folder):
    commands = [line for block in blocks(README, "sh") for line in block.splitlines()]
    assert all(command.startswith("bitcipher ") for command in commands)
    assert len(commands) == 12
    for command in commands:
        arguments = shlex.split(command)[1:]
        # One Ray for all tests is enough; jobs are sent to its dashboard.
        address = {"RAY_ADDRESS": ray_cluster.cluster, "RAY_API_SERVER_ADDRESS": ray_cluster.jobs}
        # A shell would expand the pattern; the command does so itself.
        result = subprocess.run(
            [sys.executable, "-m", "cluster.command", *arguments],
            cwd=folder,
            env={**os.environ, **address},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, command + "\n" + result.stdout + result.stderr
    assert (folder / "books-by-ray" / "versions" / "000001.json").exists()


@pytest.mark.parametrize("readme", ["README.md", "bitcipher/README.md"])
def test_python_of_the_readmes(folder, monkeypatch, readme):
    monkeypatch.chdir(folder)
    if not Path("books").exists():
        monkeypatch.setattr(sys, "argv", ["bitcipher", "build", "corpus", "--out", "books"])
        with pytest.raises(SystemExit, match="0"):
            main()
    for block in blocks((ROOT / readme).read_text(), "python"):
        exec(compile(block, readme, "exec"), {})


def modules() -> list[str]:
    return [
        module.name
        for package in ("bitcipher", "pipelines", "cluster", "training")
        for module in pkgutil.walk_packages([str(ROOT / package)], prefix=f"{package}.")
    ]


@pytest.mark.parametrize("name", modules())
def test_examples_of_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_link_of_a_readme_leads_somewhere():
    for readme in ROOT.glob("**/README.md"):
        if ".venv" in readme.parts:
            continue
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", readme.read_text()):
            assert (readme.parent / target).exists(), f"{readme}: {target}"
