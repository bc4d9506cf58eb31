"""Print the scores of `evaluate_vectors.py` as two Markdown tables: a summary, and similarity by set.

list_quality.py FILE
"""

import json
import sys
from pathlib import Path
from statistics import mean


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return lines of Markdown."""
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]


def summary_table(scores: dict) -> list[str]:
    """Return a table of CPU and memory if they are known, probes, mean similarity and analogies, cheapest first."""
    costs = [] if scores["vectors"][0]["cpu"] is None else ["CPU", "peak memory"]
    header = ["vectors", *costs, "POS accuracy", "NER accuracy", "NER span F1", "similarity", "analogies"]
    rows = [
        [
            each["title"],
            *([f"{each['cpu']:,.0f} s", f"{each['peak'] / 1e6:,.0f} MB"] if costs else []),
            *(_with_spread(scores["seeds"], *figure) for figure in _probed(each)),
            f"{mean(each['similarity'].values()):.1f}",
            f"{each['analogies']:.1f}",
        ]
        for each in _by_cost(scores)
    ]
    return table(header, rows)


def similarity_table(scores: dict) -> list[str]:
    """Return a table of Spearman's correlation on each set."""
    ordered = _by_cost(scores)
    sets = list(ordered[0]["similarity"])
    rows = [[each["title"], *(f"{each['similarity'][name]:.1f}" for name in sets)] for each in ordered]
    return table(["Spearman × 100", *sets], rows)


def _by_cost(scores: dict) -> list[dict]:
    return sorted(scores["vectors"], key=lambda each: each["cpu"] or 0)


def _probed(each: dict) -> list[list[float]]:
    return [each["pos"]["accuracy"], each["ner"]["accuracy"], each["ner"]["span_f1"]]


def _with_spread(seeds: int, middle: float, spread: float) -> str:
    return f"{middle:.2f} ± {spread:.2f}" if seeds > 1 else f"{middle:.2f}"


if __name__ == "__main__":
    scores = json.loads(Path(sys.argv[1]).read_text())
    print(f"{scores['words']:,} words, {scores['seeds']} seeds\n")
    print("\n".join([*summary_table(scores), "", *similarity_table(scores)]))
