"""Measure the paired set, and print what became slower than the stored ratios by more than a fifth.

check_ratios.py            compares with ratios.json
check_ratios.py --store    writes ratios.json, on a quiet machine

Slowness is no error, because the machine may be busy or another one. A result that differs from that of the reference
is an error.
"""

import argparse
import json

from machine import describe_commit, describe_machine
from measure import HERE, run_script, scratch
from ratios import Ratio

STORED = HERE / "ratios.json"
ROUNDS = 9
TOLERANCE = 1.2


def measure_ratios(rounds: int) -> list[Ratio]:
    """Measure all cases in a process of their own."""
    with scratch() as folder:
        seconds = json.loads(run_script("measure_cases.py", rounds, folder=folder).output)
    return [Ratio(name, sides["ours"], sides["theirs"], "s") for name, sides in seconds.items()]


def report_lines(ratios: list[Ratio], stored: dict[str, float], commit: str) -> list[str]:
    """Return a line for each case, and one that names those that became slower by more than a fifth."""
    lines, slower = [], []
    for ratio in ratios:
        measured, before = ratio.median(), stored.get(ratio.name)
        change = "not stored" if before is None else f"stored {before:.3f}, {measured / before - 1:+.0%}"
        lines.append(f"{ratio.name}: {measured:.3f} of the CPU time ({change})")
        if before is not None and measured > TOLERANCE * before:
            slower.append(ratio.name)
    measured_names = {ratio.name for ratio in ratios}
    lines += [f"{name}: stored, and not measured" for name in stored if name not in measured_names]
    found = f"SLOWER by more than a fifth: {'; '.join(slower)}" if slower else "Nothing is slower by more than a fifth"
    return [*lines, f"{found} than at commit {commit}."]


def main() -> None:
    """Compare with the stored ratios, or store new ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="store_true", help="write the ratios instead of comparing with them")
    store = parser.parse_args().store
    ratios = measure_ratios(ROUNDS)
    if store:
        values = {ratio.name: round(ratio.median(), 4) for ratio in ratios}
        content = {**describe_commit(), "machine": describe_machine(), "ratios": values}
        STORED.write_text(json.dumps(content, indent=2) + "\n")
    stored = json.loads(STORED.read_text())
    print("\n".join(report_lines(ratios, stored["ratios"], stored["commit"][:12])))


if __name__ == "__main__":
    main()
