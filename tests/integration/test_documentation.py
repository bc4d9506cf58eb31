"""Run all examples of READMEs and docstrings: commands in `sh`, code in `python`, recipes in `yaml`, and doctests.

`test_examples_of_commands.py` covers the commands in the other READMEs and in `--help`.
"""

import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import user_folder

from cluster.cli.main import main

ROOT = Path(__file__).parents[2]
PACKAGES = ("bitcipher", "pipelines", "training", "cluster")
PAGES = [
    ROOT / "README.md",
    *(page for folder in (*PACKAGES, "docs") for page in sorted((ROOT / folder).rglob("*.md"))),
]
README = PAGES[0].read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of a user, with a corpus and the recipe of the README."""
    folder = tmp_path_factory.mktemp("readme")
    user_folder.write_corpus(folder / "corpus" / "part-0.jsonl.gz")
    user_folder.write_crawl(folder / "crawl")
    user_folder.write_minimal_pairs(folder / "blimp")
    (recipe,) = blocks(README, "yaml")
    (folder / "recipe.yaml").write_text(recipe)
    return folder


@pytest.mark.long
def test_commands_of_the_readme_run(ray_cluster, folder, monkeypatch, run_command):
    commands = [line for block in blocks(README, "sh") for line in block.splitlines()]
    assert all(command.startswith("bitcipher ") for command in commands)
    assert len(commands) == 20
    monkeypatch.chdir(folder)
    for command in commands:
        # The command expands the pattern itself, without a shell.
        arguments = shlex.split(command)[1:]
        if "--workers" in arguments:  # not in this process, because it has joined the cluster already
            code, printed = _run_on_cluster(ray_cluster, arguments)
        else:
            result = run_command(*arguments)
            code, printed = result.code, result.out + result.err
        assert code == 0, command + "\n" + printed
    assert (folder / "books-by-ray" / "versions" / "000001.json").exists()


def _run_on_cluster(cluster, arguments: list[str]) -> tuple[int, str]:
    """Run a command on the Ray cluster of all tests, and return its exit code and what it prints.

    Jobs are submitted to the cluster's dashboard.
    """
    result = subprocess.run(
        [sys.executable, "-m", "cluster.cli.main", *arguments],
        env={**os.environ, "RAY_ADDRESS": cluster.cluster, "RAY_API_SERVER_ADDRESS": cluster.jobs},
        capture_output=True,
        text=True,
        check=False,
    )
    return result.returncode, result.stdout + result.stderr


def pages_with_python() -> list[str]:
    return [str(page.relative_to(ROOT)) for page in PAGES if blocks(page.read_text(), "python")]


def test_pages_with_python_are_found():
    assert {"README.md", "bitcipher/README.md", "bitcipher/formats/README.md"} <= set(pages_with_python())


@pytest.mark.parametrize("page", pages_with_python())
def test_python_of_all_pages_runs(folder, monkeypatch, page):
    monkeypatch.chdir(folder)
    if not Path("books").exists():
        monkeypatch.setattr(sys, "argv", ["bitcipher", "build", "corpus", "--out", "books"])
        with pytest.raises(SystemExit, match="0"):
            main()
    if not Path("wiki").exists():
        Path("wiki").symlink_to("books")
    for block in blocks((ROOT / page).read_text(), "python"):
        exec(compile(block, page, "exec"), {})


def test_training_quick_start_runs(tmp_path, monkeypatch, capsys):
    user_folder.write_corpus(tmp_path / "corpus" / "part-0.jsonl.gz")
    user_folder.write_first_recipe(tmp_path)
    monkeypatch.chdir(tmp_path)
    (commands,) = blocks((ROOT / "training" / "README.md").read_text(), "sh")
    for command in commands.splitlines():
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit, match="0"):
            main()
    printed = capsys.readouterr().out
    assert "| random-1 | 1 |" in printed
    assert "| cipher-1 | 1 |" in printed
    assert sorted(path.name for path in Path("curves").iterdir()) == [
        "curves.html",
        "curves.png",
        "lead.png",
        "table.md",
    ]
    kinds = [path.name.partition("-")[0] for path in sorted(Path("runs/prepared").iterdir())]
    assert kinds == ["counts", "text", "vectors"]


def modules() -> list[str]:
    return [
        module.name
        for package in PACKAGES
        for module in pkgutil.walk_packages([str(ROOT / package)], prefix=f"{package}.")
    ]


def has_examples(name: str) -> bool:
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None and ">>> " in Path(spec.origin).read_text()


@pytest.mark.parametrize("name", [name for name in modules() if has_examples(name)])
def test_docstring_examples_run(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0
    assert results.failed == 0


def test_every_module_can_be_imported():
    for name in modules():
        importlib.import_module(name)


def test_links_of_all_pages_exist():
    for page in [*PAGES, *(ROOT / "tests").rglob("*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page}: {target}"
