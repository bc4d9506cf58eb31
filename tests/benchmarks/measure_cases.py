"""Measure the paired set, and print the CPU seconds of both sides as JSON.

measure_cases.py ROUNDS

Both sides alternate, in changing order. A first round, which compiles and fills caches, is not measured. Results of all
rounds are compared, and a wrong one is an error.
"""

import gc
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from paired_cases import CASES, Case


def measure(make: Callable[[int], Case], rounds: int) -> dict[str, list[float]] | None:
    """Return the CPU seconds of both sides in each round, or None if their results differ."""
    seconds = {"ours": [], "theirs": []}
    for number in range(rounds + 1):
        case = make(number)
        results = {}
        gc.collect()
        for side in ("ours", "theirs") if number % 2 else ("theirs", "ours"):
            cpu, results[side] = _timed(getattr(case, side))
            if number:
                seconds[side].append(cpu)
        if not case.are_equal(results["ours"], results["theirs"]):
            return None
    return seconds


def _timed(compute: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = compute()
    return time.process_time() - started, result


def main(rounds: int) -> None:
    """Measure all cases."""
    measured = {}
    for name, make in CASES.items():
        measured[name] = measure(make, rounds)
        if measured[name] is None:
            sys.exit(f"{name}: the results differ.")
    print(json.dumps(measured))


if __name__ == "__main__":
    main(int(sys.argv[1]))
