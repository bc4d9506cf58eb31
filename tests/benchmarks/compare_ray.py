"""A build on Ray against one in process, and two workers against one, on one Linux machine."""

import argparse
import json
from collections.abc import Iterator

from measure import run_script, scratch
from ratios import Ratio


def figures(options: argparse.Namespace) -> Iterator[Ratio]:
    """Compare CPU of all Ray processes, and wall time of the build; both without start-up."""
    costs: dict[int, list[dict[str, float]]] = {0: [], 1: [], 2: []}
    with scratch() as folder:
        corpus = folder / "corpus"
        run_script("prepare.py", "files", corpus, *options.data, folder=folder)
        for _ in range(options.runs):
            for workers, runs in costs.items():
                runs.append(json.loads(run_script("build_warm.py", workers, corpus, folder=folder).output))
                if runs[-1]["digests"] != costs[0][0]["digests"]:
                    raise SystemExit(f"With {workers} workers, the result differs from that of a build in process.")
    values = {
        name: {workers: [cost[name] for cost in runs] for workers, runs in costs.items()}
        for name in ("cpu", "seconds", "worker_seconds")
    }
    for workers in (1, 2):
        name = f"build on Ray, {workers} worker{'s' * (workers > 1)}: CPU, against in process"
        yield Ratio(name, values["cpu"][workers], values["cpu"][0], "s", "1.1")
    name = "build on Ray, 2 workers: seconds, against 1 worker"
    yield Ratio(name, values["seconds"][2], values["seconds"][1], "s", "1/1.75")
    # The cost of sharing memory bandwidth, caches and hyper-threads between two workers.
    name = "build on Ray, 2 workers: sum of all stages in seconds, against 1 worker"
    yield Ratio(name, values["worker_seconds"][2], values["worker_seconds"][1], "s")
