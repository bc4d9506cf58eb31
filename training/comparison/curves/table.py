"""Tables that compare groups of runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bitcipher.files.markdown import escape, format_table
from training.comparison.curves.run_groups import AXES, Group

# Steps, or seconds, of the columns, as fractions of those of the shortest run.
FRACTIONS = (0.1, 0.25, 0.5, 0.75, 1.0)

# Beginning of values that no evaluation has measured.
INTERPOLATED = "≈ "
NOTE = "≈ marks values that were not measured, but interpolated between the evaluations before and after."


@dataclass(frozen=True)
class CurveTable:
    """Table of text cells; the first column contains the names of the groups."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    """Sentence below the table."""

    def markdown(self) -> str:
        """Return the table in Markdown, with its note."""
        return format_table(self.header, self.rows) + (f"\n{escape(self.note)}\n" if self.note else "")


def perplexity_table(groups: Sequence[Group]) -> CurveTable:
    """Return validation perplexities at equal steps and equal seconds, and the steps to the first group's final loss.

    Values are mean ± standard deviation over seeds (n - 1). The log perplexity is interpolated linearly between
    evaluations, and interpolated values begin with ≈. The steps of a group to the first group's final loss are computed
    on the means over seeds of both groups, and given as a number and as a percentage of the first group's steps.
    """
    columns = [
        (axis, position, f"step {position:,}" if axis == "step" else f"{_number(position)} s")
        for axis in ("step", "seconds")
        for position in _positions(groups, axis)
    ]
    first = groups[0]
    rows = [
        (
            group.name,
            str(len(group.runs)),
            *(_perplexity_at(group, axis, position) for axis, position, _ in columns),
            _format_steps(group, first),
        )
        for group in groups
    ]
    header = ("run", "seeds", *(title for *_, title in columns), f"steps to {first.name}'s final loss")
    is_marked = any(cell.startswith(INTERPOLATED) for row in rows for cell in row[2:])
    return CurveTable(header, tuple(rows), NOTE if is_marked else "")


def scores_table(groups: Sequence[Group]) -> CurveTable | None:
    """Return the metrics of the last evaluation besides loss and perplexity, such as the perplexity of each source.

    The bounds of confidence intervals are left out. Values are mean ± standard deviation over seeds (n - 1).

    Returns:
        A table of the metrics that all runs have; None if the runs have no other metrics than loss and perplexity.
    """
    usual = {*AXES, "validation_loss", "perplexity"}
    bounds = ("perplexity_low", "perplexity_high")
    common = set.intersection(*(set(run.evaluations) for group in groups for run in group.runs))
    names = [name for name in groups[0].runs[0].evaluations if name in common - usual and not name.startswith(bounds)]
    rows = [
        (group.name, str(len(group.runs)), *(_spread(group.values(name)[:, -1]) for name in names)) for group in groups
    ]
    return CurveTable(("run", "seeds", *names), tuple(rows)) if names else None


def steps_to_loss(group: Group, loss: float) -> float | None:
    """Return the first step at which a group's mean validation loss is at most `loss`, or None if it never is."""
    return first_position(group.mean("step"), group.mean("validation_loss"), loss)


def first_position(positions: np.ndarray, losses: np.ndarray, loss: float) -> float | None:
    """Return the first position at which interpolated losses are at most `loss`, or None if they never are."""
    below = np.flatnonzero(losses <= loss)
    if len(below) == 0:
        return None
    first = below[0]
    if first == 0:
        return float(positions[0])
    return float(np.interp(loss, losses[[first, first - 1]], positions[[first, first - 1]]))


def _format_steps(group: Group, first: Group) -> str:
    reached = steps_to_loss(group, first.mean("validation_loss")[-1])
    if reached is None:
        return "not reached"
    total = first.mean("step")[-1]
    mark = "" if reached in group.mean("step") else INTERPOLATED
    return f"{mark}{reached:,.0f}" + (f" ({100 * reached / total:.0f} %)" if total else "")


def _positions(groups: Sequence[Group], axis: str) -> list[float]:
    last = min(float(group.values(axis)[:, -1].min()) for group in groups)
    if axis == "step":
        return sorted({round(fraction * last) for fraction in FRACTIONS})
    # A run that has only the evaluation before its first step has taken 0 seconds.
    return [fraction * last for fraction in FRACTIONS[1:]] if last else []


def _perplexity_at(group: Group, axis: str, position: float) -> str:
    is_measured = all(position in positions for positions in group.values(axis))
    return ("" if is_measured else INTERPOLATED) + _spread(np.exp(_losses_at(group, axis, position)))


def _losses_at(group: Group, axis: str, position: float) -> np.ndarray:
    # Not the validation loss, which of next-sentence prediction includes the loss of sentences.
    pairs = zip(group.values(axis), np.log(group.values("perplexity")), strict=True)
    return np.array([np.interp(position, positions, losses) for positions, losses in pairs])


def _spread(values: np.ndarray) -> str:
    mean = values.mean()
    return f"{_number(mean)} ± {_number(values.std(ddof=1), like=mean)}" if len(values) > 1 else _number(mean)


def _number(value: float, like: float | None = None) -> str:
    """Return a number with the decimals that suit its size, or the size of `like`."""
    size = abs(value if like is None else like)
    return f"{value:,.{0 if size >= 1000 else 1 if size >= 10 else 3}f}"
