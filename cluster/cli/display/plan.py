"""What `bitcipher plan` prints."""

import math
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from pipelines.estimate.estimate import Plan
from pipelines.estimate.growth_law import Bound, GrowthLaw
from pipelines.estimate.planner import Plans

_OUT = Console(highlight=False, soft_wrap=True, markup=False)

# Of the range, where its ends agree within so much of the point, only the point is told.
TELLING = 0.02


def show_plan(plans: Plans) -> None:
    """All that a plan says, with the range where growth leaves one."""
    point, cluster, options = plans.plans[Bound.POINT], plans.cluster, plans.options
    rates = plans.calibration.rates
    _OUT.print(f"Sample: {plans.sampled_bytes / 1e6:,.1f} MB of {plans.sampled}")
    _OUT.print(
        f"Cluster: {cluster.nodes:,} node{'s' * (cluster.nodes > 1)} of {cluster.cores} cores and "
        f"{cluster.memory_bytes / 1e9:,.0f} GB; tokenizer {options.tokenizer}, radius {options.window}, "
        f"mode {options.mode}, {point.vector_size} dimensions, minimum count {options.min_count}"
    )
    _OUT.print(
        f"Measured here: counting {1e6 * rates.token:.3f} µs a token and {1e6 * rates.chunk:.1f} µs a new chunk, "
        f"merging {1e6 * rates.merge_entry:.3f} µs a pair, vectors {1e6 * rates.embed_entry:.3f} µs a pair and "
        f"{1e6 * rates.embed_word:.1f} µs a word\n"
    )
    _print_growth(plans)
    _print_sizes(plans)
    _print_times(plans)
    _print_memory(plans)
    for sentence in plans.limits:
        _OUT.print(f"Limit: {sentence}")
    for sentence in plans.possible_limits:
        _OUT.print(f"Perhaps, if growth is at the upper end: {sentence}")


def _print_growth(plans: Plans) -> None:
    end = plans.plans[Bound.POINT].tokens
    for name, law in (("words", plans.laws.types), ("pairs", plans.laws.entries)):
        _OUT.print(
            f"Growth of {name}: exponent {law.exponent:.3f} where the data end ({_law_end(law):,.0f} tokens), changing "
            f"by {law.bend * 2.3026:+.3f} a tenfold; error of the fit {law.error:.1%}"
        )
    beyond = end / _law_end(plans.laws.types)
    if beyond > 1:
        _OUT.print(f"The plan goes {beyond:,.3g} times beyond that; ranges are from a falling to a constant exponent.")
    _OUT.print()


def _law_end(law: GrowthLaw) -> float:
    return math.exp(law.last)


def _print_sizes(plans: Plans) -> None:
    table = Table("size", "planned", "range", box=None, pad_edge=False)
    for name, value, unit in (
        ("tokens", lambda plan: plan.tokens, _number),
        ("text", lambda plan: plan.text_bytes, _size),
        ("shards", lambda plan: plan.shards, _number),
        ("words", lambda plan: plan.types, _number),
        ("pairs", lambda plan: plan.entries, _number),
        ("vocabulary", lambda plan: plan.vocabulary, _number),
        ("kept: shards", lambda plan: plan.shard_bytes, _size),
        ("kept: merged segments", lambda plan: plan.segment_bytes, _size),
        ("kept: vectors of a version", lambda plan: plan.vector_bytes, _size),
        ("stored once published and pruned", _kept, _size),
        ("stored at most, while it runs", lambda plan: plan.peak_bytes, _size),
        ("shuffle: read by merging", lambda plan: plan.shuffle_read, _size),
        ("shuffle: written by merging", lambda plan: plan.shuffle_written, _size),
        ("times that a pair is merged", lambda plan: plan.rounds, lambda value: f"{value:.2f}"),
        ("requests to a store, roughly", lambda plan: plan.requests, _number),
    ):
        table.add_row(name, unit(value(plans.plans[Bound.POINT])), _range(plans, value, unit))
    _print_table(table)


def _kept(plan: Plan) -> float:
    return plan.shard_bytes + plan.segment_bytes + plan.vector_bytes


def _print_times(plans: Plans) -> None:
    point = plans.plans[Bound.POINT]
    table = Table("stage", "core-hours", "range", "wall time", "range", box=None, pad_edge=False)
    for stage in point.cpu_seconds:

        def cpu(plan: Plan, stage: str = stage) -> float:
            return plan.cpu_seconds[stage]

        def wall(plan: Plan, stage: str = stage) -> float:
            return plan.wall_seconds[stage]

        cells = (_hours(cpu(point)), _range(plans, cpu, _hours), _time(wall(point)), _range(plans, wall, _time))
        table.add_row(stage, *cells)

    def all_cpu(plan: Plan) -> float:
        return sum(plan.cpu_seconds.values())

    def all_wall(plan: Plan) -> float:
        return sum(plan.wall_seconds.values())

    cells = (_hours(all_cpu(point)), _range(plans, all_cpu, _hours))
    table.add_row("all", *cells, _time(all_wall(point)), _range(plans, all_wall, _time))
    _print_table(table)
    _OUT.print(
        f"Wall time is that of {point.workers:,} worker{'s' * (point.workers > 1)}; to it come some seconds for each "
        "worker to start, and what a slow store keeps them waiting.\n"
    )


def _print_memory(plans: Plans) -> None:
    table = Table("memory of", "planned", "range", box=None, pad_edge=False)
    for name, value in (
        ("a worker that counts", lambda plan: plan.memory.count_worker),
        ("a worker that merges", lambda plan: plan.memory.merge_worker),
        ("the worker that makes vectors", lambda plan: plan.memory.embed_worker),
        ("the driver", lambda plan: plan.memory.driver),
    ):
        table.add_row(name, _size(value(plans.plans[Bound.POINT])), _range(plans, value, _size))
    _print_table(table)


def _print_table(table: Table) -> None:
    for column in table.columns[1:]:
        column.justify = "right"
    _OUT.print(table)
    _OUT.print()


def _range(plans: Plans, value: Callable[[Plan], float], unit: Callable[[float], str]) -> str:
    values = [value(plan) for plan in plans.plans.values()]
    low, high = min(values), max(values)
    return f"{unit(low)} – {unit(high)}" if high - low > TELLING * high else ""


def _number(value: float) -> str:
    for unit, size in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6)):
        if value >= 10 * size or value >= size >= 1e9:
            return f"{value / size:,.3g} {unit}"
    return f"{value:,.0f}"


def _size(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} PB"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.3g}" if seconds < 3.6e6 else f"{seconds / 3600:,.0f}"


def _time(seconds: float) -> str:
    for unit, length in (("s", 120), ("min", 7200), ("h", 172_800)):
        if seconds < length:
            return f"{seconds / {'s': 1, 'min': 60, 'h': 3600}[unit]:.3g} {unit}"
    return f"{seconds / 86_400:,.3g} days"
