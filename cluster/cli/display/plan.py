"""Output of `bitcipher plan`."""

import math
from collections.abc import Callable
from typing import Any

from bitcipher.redaction import redact
from bitcipher.sizes import format_size
from cluster.cli.display.console import OUT, format_count, format_share
from cluster.cli.display.tables import TextTable
from pipelines.estimate.build_cost import BuildCost
from pipelines.estimate.build_estimate import BuildEstimate
from pipelines.estimate.growth_law import Bound

# A range is shown if its ends differ by more than this fraction of the upper end.
MIN_SPREAD = 0.02


def print_plan(estimate: BuildEstimate) -> None:
    """Print an estimate, with ranges where the growth of words and pairs is uncertain."""
    point, cluster, options = estimate.costs[Bound.POINT], estimate.cluster, estimate.options
    rates = estimate.calibration.rates
    OUT.print(f"Sample: {estimate.sampled_bytes / 1e6:,.1f} MB of {estimate.sampled}{_bad_share(estimate)}")
    OUT.print(
        f"Cluster: {format_count(cluster.nodes, 'node')} of {cluster.cores} cores and "
        f"{cluster.memory_bytes / 1e9:,.0f} GB; tokenizer {redact(options.tokenizer)}, window {options.window}, "
        f"mode {options.mode}, {point.vector_size} dimensions, minimum count {options.min_count}"
    )
    OUT.print(
        f"Measured here: counting {1e6 * rates.token:.3f} µs per token and {1e6 * rates.chunk:.1f} µs per new chunk, "
        f"merging {1e6 * rates.merge_entry:.3f} µs per pair, vectors {1e6 * rates.embed_entry:.3f} µs per pair, "
        f"{1e6 * rates.product_entry:.3f} µs per pair of landmarks and {1e6 * rates.embed_word:.1f} µs per word\n"
    )
    _print_growth(estimate)
    _print_sizes(estimate)
    _print_times(estimate)
    _print_memory(estimate)
    for sentence in estimate.limits:
        OUT.print(f"Limit: {sentence}")
    for sentence in estimate.possible_limits:
        OUT.print(f"Possible limit, at the upper end of growth: {sentence}")


def plan_fields(estimate: BuildEstimate) -> dict[str, Any]:
    """Return the sample, the cluster, the options, the costs and the limits of an estimate, for programs."""
    return {
        "sampled": estimate.sampled,
        "sampled_bytes": estimate.sampled_bytes,
        "records": estimate.records,
        "cluster": estimate.cluster,
        "options": estimate.options.redacted(),
        "rates": estimate.calibration.rates,
        "costs": estimate.costs,
        "limits": estimate.limits,
        "possible_limits": estimate.possible_limits,
    }


def _bad_share(estimate: BuildEstimate) -> str:
    """Return the share of bad records of the sample as the end of a line, empty if there are none."""
    read, bad = (sum(getattr(each, name) for each in estimate.records) for name in ("read", "bad"))
    return f"; {bad:,} of {read:,} records are bad ({format_share(bad / read)})" if bad else ""


def _print_growth(estimate: BuildEstimate) -> None:
    laws = estimate.laws
    last = math.exp(laws.types.last)
    for name, law in (("words", laws.types), ("pairs", laws.entries)):
        OUT.print(
            f"Growth of {name}: exponent {law.exponent:.3f} at the end of the data ({last:,.0f} tokens), "
            f"changing by {law.bend * math.log(10):+.3f} per tenfold text; error of the fit {law.error:.1%}"
        )
    beyond = estimate.costs[Bound.POINT].tokens / last
    if beyond > 1:
        OUT.print(
            f"The plan extrapolates the data by a factor of {beyond:,.3g}. At the lower end of a range, the exponent "
            "keeps falling; at the upper end, it stays constant."
        )
    OUT.print()


def _print_sizes(estimate: BuildEstimate) -> None:
    table = TextTable("size", "planned", "range")
    for name, value, form in (
        ("tokens", lambda cost: cost.tokens, _number),
        ("text", lambda cost: cost.text_bytes, format_size),
        ("shards", lambda cost: cost.shards, _number),
        ("words", lambda cost: cost.types, _number),
        ("pairs", lambda cost: cost.entries, _number),
        ("vocabulary", lambda cost: cost.vocabulary, _number),
        ("stored: shards", lambda cost: cost.shard_bytes, format_size),
        ("stored: merged segments", lambda cost: cost.segment_bytes, format_size),
        ("stored: vectors of a version", lambda cost: cost.vector_bytes, format_size),
        ("stored after publishing and pruning", _stored, format_size),
        ("stored at most, during the build", lambda cost: cost.peak_bytes, format_size),
        ("shuffle: read by merging", lambda cost: cost.shuffle_read, format_size),
        ("shuffle: written by merging", lambda cost: cost.shuffle_written, format_size),
        ("merges per pair", lambda cost: cost.rounds, lambda value: f"{value:.2f}"),
        ("requests to the store, roughly", lambda cost: cost.requests, _number),
    ):
        table.add_row(name, form(value(estimate.costs[Bound.POINT])), _range(estimate, value, form))
    table.print()
    OUT.print()


def _stored(cost: BuildCost) -> float:
    return cost.shard_bytes + cost.segment_bytes + cost.vector_bytes


def _print_times(estimate: BuildEstimate) -> None:
    point = estimate.costs[Bound.POINT]
    table = TextTable("stage", "core-hours", "range", "wall time", "range")
    for name, stages in (*((stage, [stage]) for stage in point.cpu_seconds), ("all", list(point.cpu_seconds))):

        def cpu(cost: BuildCost, stages: list[str] = stages) -> float:
            return sum(cost.cpu_seconds[stage] for stage in stages)

        def wall(cost: BuildCost, stages: list[str] = stages) -> float:
            return sum(cost.wall_seconds[stage] for stage in stages)

        cells = (_hours(cpu(point)), _range(estimate, cpu, _hours), _time(wall(point)), _range(estimate, wall, _time))
        table.add_row(name, *cells)
    table.print()
    OUT.print(
        f"\nWall time is for {format_count(point.workers, 'worker')}. Starting a worker takes some seconds more, and a "
        "slow store adds waiting time.\n"
    )


def _print_memory(estimate: BuildEstimate) -> None:
    table = TextTable("memory of", "planned", "range")
    for name, value in (
        ("counting worker", lambda cost: cost.memory.count_worker),
        ("merging worker", lambda cost: cost.memory.merge_worker),
        ("embedding worker", lambda cost: cost.memory.embed_worker),
        ("driver", lambda cost: cost.memory.driver),
    ):
        table.add_row(name, format_size(value(estimate.costs[Bound.POINT])), _range(estimate, value, format_size))
    table.print()
    OUT.print()


def _range(estimate: BuildEstimate, value: Callable[[BuildCost], float], form: Callable[[float], str]) -> str:
    """Return the range of a value as text, empty if its ends are close. `form` formats a number."""
    values = [value(cost) for cost in estimate.costs.values()]
    low, high = min(values), max(values)
    return f"{form(low)} – {form(high)}" if high - low > MIN_SPREAD * high else ""


def _number(value: float) -> str:
    for unit, size in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if value >= 10 * size or value >= size >= 1e9:
            return f"{value / size:,.3g} {unit}"
    return f"{value:,.0f}"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.3g}" if seconds < 3.6e6 else f"{seconds / 3600:,.0f}"


def _time(seconds: float) -> str:
    for unit, length in (("s", 120), ("min", 7200), ("h", 172_800)):
        if seconds < length:
            return f"{seconds / {'s': 1, 'min': 60, 'h': 3600}[unit]:.3g} {unit}"
    return f"{seconds / 86_400:,.3g} days"
