"""Output of `bitcipher doctor`."""

from typing import Any

from rich.table import Table
from rich.text import Text

from cluster.doctor.check_result import CheckResult, Level
from pipelines.runtime.visible_console import VisibleConsole

STYLES = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "bold red"}


def list_checks(results: dict[str, list[CheckResult]]) -> list[dict[str, Any]]:
    """Return the results for programs, each with where it was found."""
    return [{"where": where, **vars(result)} for where, group in results.items() for result in group]


def print_checks(results: dict[str, list[CheckResult]]) -> None:
    """Print results as a table."""
    table = Table("where", "check", "", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("result", overflow="fold")
    for where, group in results.items():
        for result in group:
            # Paths and names come from users, so brackets in them are not markup.
            level = Text(result.level, style=STYLES[result.level])
            table.add_row(Text(where), Text(result.check), level, Text(result.message))
            where = ""
    VisibleConsole(highlight=False).print(table)
