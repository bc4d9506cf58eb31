"""Control characters of names and words do not reach the terminal."""

import ast
import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.progress import Progress, TextColumn
from rich.table import Table

import bitcipher
import cluster
import pipelines
import training
from bitcipher.terminal import print_text, show_controls
from cluster.cli.main import main
from pipelines.runtime.visible_console import VisibleConsole

HOSTILE = "\x1b]0;title\x07\x1b[2Jred\x1b[31m\x9b2J\u202e\r"
CONTROLS = ("\x1b", "\x07", "\x9b", "\u202e", "\r")


@given(st.text())
def test_shown_text_has_no_controls_but_line_breaks_and_tabs(text):
    shown = show_controls(text)
    assert shown == show_controls(shown)
    assert not any(control in shown for control in CONTROLS)
    if text.isprintable():
        assert shown == text


def test_printed_text(capsys):
    print_text(f"a\n\t{HOSTILE}", err=True)
    assert capsys.readouterr().err == "a\n\t" + show_controls(HOSTILE) + "\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_console_shows_controls_and_keeps_its_styles(is_terminal):
    out = io.StringIO()
    console = VisibleConsole(file=out, force_terminal=is_terminal, markup=False, highlight=False, width=200)
    table = Table(HOSTILE)
    table.add_row(HOSTILE, style="red")
    console.print(table)
    console.print(HOSTILE)
    with Progress(TextColumn("{task.fields[note]}"), console=console) as progress:
        progress.add_task("", total=1, note=HOSTILE)
    assert out.getvalue().count(r"\x1b]0;title") >= 3
    # Only rich's own sequences are left.
    assert not any(control in out.getvalue() for control in ("\x1b]0", "\x1b[2J", "\x07", "\x9b", "\u202e"))
    assert ("\x1b[31m" in out.getvalue()) == is_terminal


@pytest.fixture
def run(monkeypatch, capfd):
    """Run a command in process; return its exit code and output."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["bitcipher", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code or 0, "".join(capfd.readouterr())

    return call


def test_json_keys_and_file_names(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = [json.dumps({"text": "some words of text " * 20})] * 99
    path = Path("\x1b[2Ja.jsonl")
    path.write_text("\n".join([*good, json.dumps({HOSTILE: 1})]))
    outputs = [
        run("build", path, "--out", "build\x1b[2J", "--tokenizer", "whitespace", "--max-bad-share", 0.5),
        run("inspect", "build\x1b[2J"),
        run("status", "build\x1b[2J"),
        run("export", "build\x1b[2J", "--format", "glove", "--out", "glove\x1b[2J"),
        run("sample", path),
        run("plan", path),
    ]
    assert [code for code, _ in outputs] == [0] * len(outputs)
    path.write_text(json.dumps({HOSTILE: 1}))
    outputs.append(run("build", path, "--out", "other"))
    assert outputs[-1][0] == 2
    output = "".join(each for _, each in outputs)
    assert r"\x1b[2Ja.jsonl" in output
    assert r"\x1b[2Jred" in output
    assert not any(control in output for control in CONTROLS)


def test_no_module_prints_by_other_functions():
    """All output of commands goes through `print_text` or `VisibleConsole`."""
    allowed = {"terminal.py", "events.py", "nodes.py", "visible_console.py"}  # the second and third print JSON
    found = []
    for package in (bitcipher, pipelines, training, cluster):
        for path in Path(package.__path__[0]).rglob("*.py"):
            names = {
                ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
            }
            printed = names & {"print", "typer.echo", "typer.secho", "Console", "sys.stdout.write", "sys.stderr.write"}
            found += [path.name for _ in printed if path.name not in allowed]
    assert found == []
