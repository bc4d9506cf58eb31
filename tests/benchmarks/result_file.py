"""Results of a run as JSON lines, from which the Markdown table can be made again.

result_file.py FILE   prints the table

The first line names the commit, the machine and the options. Each further line has one comparison: its figures, and its
error if it failed.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from machine import run_lines
from ratios import HEADER, Ratio


@dataclass(frozen=True)
class Outcome:
    """Outcome of one comparison.

    Attributes:
        name: name of the comparison.
        figures: its figures; those before the error if it failed.
        error: what went wrong, or "".
    """

    name: str
    figures: list[Ratio] = field(default_factory=list)
    error: str = ""


class ResultFile:
    """File of the results of one run.

    Args:
        path: the file; without one, results are only kept in memory.
        run: commit, machine, date and options of this run.

    Raises:
        SystemExit: if the file has results of another commit, machine or options.
    """

    def __init__(self, path: Path | None, run: dict[str, Any]):
        self._path = path
        self.run, self.outcomes = run, {}
        if path and path.exists() and path.stat().st_size:
            self.run, self.outcomes = read_results(path)
            if differing := [name for name in run if name != "date" and self.run.get(name) != run[name]]:
                raise SystemExit(
                    f"{path} has results with another {' and '.join(differing)}: give --results a new file."
                )
        else:
            self._append(run)

    def add(self, outcome: Outcome) -> None:
        """Append the outcome of a comparison."""
        self.outcomes[outcome.name] = outcome
        self._append(asdict(outcome))

    def _append(self, record: dict[str, Any]) -> None:
        if self._path:
            with open(self._path, "a", encoding="utf-8") as lines:
                lines.write(json.dumps(record, ensure_ascii=False) + "\n")


def read_results(path: Path) -> tuple[dict[str, Any], dict[str, Outcome]]:
    """Return the description of a run, and the newest outcome of each comparison.

    A line that an interruption cut short is left out, and removed, so that the next one does not continue it.
    """
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        path.write_bytes(whole)
    run, *records = map(json.loads, whole.splitlines())
    outcomes = (Outcome(each["name"], [Ratio(**row) for row in each["figures"]], each["error"]) for each in records)
    return run, {outcome.name: outcome for outcome in outcomes}


def table_lines(run: dict[str, Any], outcomes: dict[str, Outcome]) -> Iterator[str]:
    """Yield the lines of Markdown: commit and machine, the table, and what failed."""
    yield from run_lines(run)
    yield f"Options: {', '.join(f'{name} {value}' for name, value in run['options'].items())}."
    yield ""
    yield HEADER
    yield from (figure.row() for outcome in outcomes.values() for figure in outcome.figures)
    yield ""
    yield from (f"Failed: {outcome.name}: {outcome.error}" for outcome in outcomes.values() if outcome.error)


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in table_lines(*read_results(Path(sys.argv[1]))))
