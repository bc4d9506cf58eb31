"""Checks of the nodes of a cluster: a Ray job that runs those of `cluster.doctor.machine` on each.

It is started by `bitcipher doctor` as `python -m cluster.doctor.nodes [TARGET]`, and prints its findings as JSON.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError
from cluster.doctor.clock import check_clock
from cluster.doctor.finding import CheckResult, ok, problem
from cluster.doctor.machine import check_machine
from cluster.doctor.package_versions import PARTNERS, check_same_versions, installed_versions
from cluster.doctor.storage import CONTENT, PROBE, check_target, probe_folder

# Before the line of JSON, to find it among what else the log holds.
MARK = "bitcipher-doctor:"

# A node that does not start a task by then is too busy, or gone.
NODE_SECONDS = 60


def check_node(target: str | None, shared: str | None) -> dict[str, Any]:
    """Findings on the node that this runs on, its versions and its time.

    Args:
        target: the storage to check from here; None for none.
        shared: a file there that another node wrote.
    """
    findings = check_machine()
    if target and shared:
        findings += [*check_target(target), check_shared(target, shared)]
    return {"findings": findings, "versions": installed_versions(), "time": time.time()}


def check_shared(target: str, file: str) -> CheckResult:
    """Whether the node sees at the target what another node wrote there."""
    try:
        seen = storage.exists(file)
    except BitcipherError as error:
        return problem("target", str(error))
    if seen:
        return ok("target", "Sees what the head wrote there.")
    return problem(
        "target", f"{target} is another place on this node: use a URI, or a file system that all nodes share."
    )


def check_nodes(target: str | None) -> tuple[dict[str, list[CheckResult]], dict[str, str | None], str]:
    """Findings on each node, the versions of the head, and the dashboard's address as the cluster knows it."""
    import ray

    context = ray.init(log_to_driver=False, logging_level="ERROR")
    here = installed_versions()
    with _shared_file(target) as shared:
        nodes = dict(_ask_nodes(here, target, shared))
    cpus = int(ray.cluster_resources().get("CPU", 0))
    nodes["cluster"] = [ok("cluster", f"Nodes: {len(nodes)}; CPUs: {cpus}.")]
    return nodes, here, f"http://{context.dashboard_url}"


@contextmanager
def _shared_file(target: str | None) -> Iterator[str | None]:
    """A file at the target that the head has written, for the other nodes to see."""
    if target is None:
        yield None
        return
    with probe_folder(target) as folder:
        shared = storage.join(folder, PROBE)
        with suppress(Exception):  # the nodes tell what is wrong with the target
            storage.create(shared, CONTENT)
        yield shared


def _ask_nodes(
    here: dict[str, str | None], target: str | None, shared: str | None
) -> Iterator[tuple[str, list[CheckResult]]]:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    alive = [node for node in ray.nodes() if node["Alive"]]
    start = time.time()
    tasks = [
        ray.remote(num_cpus=0, max_retries=0)(check_node)
        .options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
        .remote(target, shared)
        for node in alive
    ]
    for node, task in zip(alive, tasks, strict=True):
        name = node["NodeManagerHostname"]
        try:
            found = ray.get(task, timeout=NODE_SECONDS)
        except ray.exceptions.RayError as error:
            reason = str(error).strip().splitlines()[-1:] or ["no reason given"]
            yield name, [problem("node", f"Ran no task within {NODE_SECONDS} s ({reason[0]}): see `ray status`.")]
            continue
        # The node took its time between our start and now; in it, its clock agrees.
        ours = min(max(found["time"], start), time.time())
        yield (
            f"{name} ({node['NodeManagerAddress']})",
            [
                check_same_versions(here, found["versions"], "the head", PARTNERS),
                check_clock("clock", found["time"], ours, "this node"),
                *found["findings"],
            ],
        )


def read_answer(log: str) -> dict[str, Any] | None:
    """What the job has printed, or None if it did not come so far."""
    lines = [line for line in log.splitlines() if line.startswith(MARK)]
    return json.loads(lines[-1].removeprefix(MARK)) if lines else None


def main(arguments: list[str]) -> None:
    """Run in the job."""
    nodes, versions, dashboard = check_nodes(*arguments or [None])
    listed = {name: [[each.check, each.level, each.says] for each in found] for name, found in nodes.items()}
    print(MARK + json.dumps({"nodes": listed, "versions": versions, "dashboard": dashboard}))


if __name__ == "__main__":
    main(sys.argv[1:])
