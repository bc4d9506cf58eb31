"""Tables in terminals of 80 columns, and in pipes: nothing is cut, and numbers are never folded."""

import io
import os
import pty
import subprocess
import sys

import pytest
from rich.cells import cell_len
from synthetic_runs import write_run

from bitcipher.explain.contributions import Contribution, Explanation
from cluster.cli.display import explanation, tables
from cluster.cli.display.tables import TextTable
from pipelines.runtime.visible_console import VisibleConsole

LONG = "vectors-of-the-first-day-of-november-with-many-words"


@pytest.fixture
def printed(monkeypatch):
    """Print by a function in a terminal of 80 columns, or to a file; return the lines."""

    def call(print_it, is_terminal=True):
        out = io.StringIO()
        console = VisibleConsole(
            file=out, force_terminal=is_terminal, color_system=None, width=80, soft_wrap=True, markup=False
        )
        for module in (tables, explanation):
            monkeypatch.setattr(module, "OUT", console)
        print_it()
        return out.getvalue().splitlines()

    return call


def make_table(*columns, first=LONG):
    table = TextTable("name", *columns)
    table.add_row("é中", *("1.5" for _ in columns))
    table.add_row(first, *("22.25 ± 0.10" for _ in columns))
    return table


def test_table_that_fits_has_a_line_per_row(printed):
    assert printed(make_table("accuracy", first="ab").print) == [
        "name      accuracy",
        "é中            1.5",
        "ab    22.25 ± 0.10",
    ]


def test_headers_are_wrapped_and_the_first_column_is_folded(printed):
    lines = printed(make_table("accuracy of words", "F1 of spans", "words known").print)
    assert lines[:2] == [
        "                                         accuracy of",
        "name                                           words   F1 of spans   words known",
    ]
    assert all(cell_len(line) <= 80 for line in lines)
    assert sum("22.25 ± 0.10  22.25 ± 0.10  22.25 ± 0.10" in line for line in lines) == 1
    assert "".join(line.split("  ")[0] for line in lines[3:]) == LONG


def test_rows_of_a_table_that_is_too_wide_are_blocks(printed):
    lines = printed(make_table(*(f"metric {number}" for number in range(6))).print)
    assert len(lines) == 2 * 7 + 1
    assert lines[8:10] == [f"name      {LONG}", "metric 0  22.25 ± 0.10"]


def test_files_and_pipes_get_a_line_per_row(printed):
    lines = printed(make_table(*(f"metric {number}" for number in range(20))).print, is_terminal=False)
    assert len(lines) == 3
    assert lines[2].split("  ") == [LONG, *(["22.25 ± 0.10"] * 20)]


def test_words_of_explanations_are_folded(printed):
    found = Explanation(("a", "b"), 0.5, (Contribution(1, LONG * 2, 0.25), Contribution(0, "c", -0.125)), (), 0.375)
    lines = printed(lambda: explanation.print_contexts(found))
    assert all(cell_len(line) <= 80 for line in lines)
    assert LONG * 2 in "".join(line.split(" ")[0] for line in lines)
    assert "+0.2500" in "".join(lines)


@pytest.mark.parametrize("columns", [80, 400])
def test_compare_prints_its_tables_in_a_terminal(tmp_path, columns):
    losses = {"random": {0: 3.0, 10: 2.0, 20: 1.0}, "cipher": {0: 3.0, 10: 1.0, 20: 0.5}}
    runs = [
        write_run(tmp_path / f"{name}*|{LONG}", 1, steps, {"embeddings": {"init": name}})
        for name, steps in losses.items()
    ]
    lines = run_in_terminal(columns, "compare", *runs, "--out", tmp_path / "out")
    assert not any("&#" in line or line.startswith("| ") for line in lines)
    assert any(f"cipher*|{LONG}" in line for line in lines)
    assert any("(50 %)" in line for line in lines)
    rows = [line for line in lines if "  " in line and LONG not in line]
    assert all(cell_len(line) <= columns for line in rows)


def run_in_terminal(columns, *arguments):
    """Return the lines that a command prints in a terminal of a number of columns."""
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "bitcipher", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"}
    process = subprocess.Popen(command, stdout=end, env=environment)
    os.close(end)
    output = b""
    try:
        while part := os.read(terminal, 4096):
            output += part
    except OSError:  # the process has closed its end
        pass
    os.close(terminal)
    assert process.wait() == 0
    return output.decode().splitlines()
