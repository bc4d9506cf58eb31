"""Lead of groups over the first one: how many times more tokens the first group needs for the same perplexity."""

from collections.abc import Sequence

import numpy as np

from training.comparison.curves.run_groups import Group
from training.comparison.curves.table import FRACTIONS, CurveTable, first_position

NOTE = (
    "The lead of a run is the number of tokens after which the first run reaches its perplexity, divided by the number "
    "of tokens that it has read itself."
)


def lead_curve(group: Group, first: Group) -> tuple[np.ndarray, np.ndarray]:
    """Return the lead of a group at each of its evaluations at which there is one.

    There is no lead before the first step, and none where the perplexity is lower than all of the first group. Log
    perplexities are means over seeds, and those of the first group are interpolated linearly between evaluations.

    Returns:
        Tokens that the group has read, and leads, [n] each.
    """
    tokens = group.mean("tokens")
    leads = [_lead(first, position, loss) for position, loss in zip(tokens, group.log_perplexity(), strict=True)]
    has_lead = [lead is not None for lead in leads]
    return tokens[has_lead], np.array([lead for lead in leads if lead is not None])


def last_lead(group: Group, first: Group) -> float | None:
    """Return the lead of a group at its last evaluation, or None if there is none."""
    return _lead(first, float(group.mean("tokens")[-1]), float(group.log_perplexity()[-1]))


def lead_table(groups: Sequence[Group]) -> CurveTable | None:
    """Return the leads of all groups but the first at equal numbers of tokens.

    Returns:
        None if there is only one group, or no group has read a token.
    """
    first, *others = groups
    last = min(float(group.mean("tokens")[-1]) for group in groups)
    if not others or not last:
        return None
    positions = [fraction * last for fraction in FRACTIONS]
    rows = [(group.name, *(_format_lead(group, first, position) for position in positions)) for group in others]
    header = ("run", *(f"lead at {position:,.0f} tokens" for position in positions))
    return CurveTable(header, tuple(rows), NOTE)


def _format_lead(group: Group, first: Group, position: float) -> str:
    lead = _lead(first, position, float(np.interp(position, group.mean("tokens"), group.log_perplexity())))
    if lead is None:
        return f"> {first.mean('tokens')[-1] / position:.1f}"
    return f"{lead:.1f}"


def _lead(first: Group, tokens: float, loss: float) -> float | None:
    reached = first_position(first.mean("tokens"), first.log_perplexity(), loss)
    return reached / tokens if reached is not None and tokens else None
