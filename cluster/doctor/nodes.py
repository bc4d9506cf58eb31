"""Ray job that runs the checks of `cluster.doctor.machine` on each node of a cluster.

`bitcipher doctor` starts the job as `python -m cluster.doctor.nodes [TARGET]`. The job prints the results as JSON.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.records import Record
from cluster.doctor.check_result import CheckResult, Level, ok, problem
from cluster.doctor.clock import check_clock
from cluster.doctor.machine import check_machine
from cluster.doctor.package_versions import MUST_MATCH, check_same_versions, installed_versions
from cluster.doctor.storage import CONTENT, PROBE, check_target, probe_folder
from pipelines.runtime.ray_cluster import NodeResult, call_on_each_node, ray_cluster

# Prefix of the line of JSON in the log.
PREFIX = "bitcipher-doctor:"

# Maximum time for the checks of a node. A node that takes longer is overloaded or lost.
NODE_SECONDS = 60


def check_node(target: str | None, shared: str | None) -> dict[str, Any]:
    """Return the `results` of the checks of this node, the `versions` of its packages and its `time`.

    Args:
        target: path or URI of storage to check from this node; None to skip this check.
        shared: URI of a file in the target that the head node wrote.

    Returns:
        A list of `CheckResult`, versions by package, and seconds since 1970.
    """
    results = check_machine()
    if target and shared:
        results += [*check_target(target), check_shared(target, shared)]
    return {"results": results, "versions": installed_versions(), "time": time.time()}


def check_shared(target: str, file: str) -> CheckResult:
    """Check that this node sees a file that another node wrote to the target."""
    try:
        seen = storage.exists(file)
    except BitcipherError as error:
        return problem("target", str(error))
    if seen:
        return ok("target", "The file that the head node wrote is visible.")
    return problem(
        "target", f"{target} is a different directory on this node: use a URI, or a file system that all nodes share."
    )


def check_nodes(target: str | None) -> tuple[dict[str, list[CheckResult]], dict[str, str | None], str | None]:
    """Check all nodes, and return their results.

    Args:
        target: path or URI of storage to check from each node; None to skip this check.

    Returns:
        The results by name of the node, or "cluster" for the cluster as a whole; the versions of packages on the head
        node; and the address of the dashboard inside the cluster.
    """
    head_versions = installed_versions()
    with ray_cluster(num_cpus=1) as connection, _shared_file(target) as shared:
        start = time.time()
        cpus, nodes = 0, {}
        for node in call_on_each_node(check_node, target, shared, timeout=NODE_SECONDS):
            cpus += node.cpus
            nodes[f"{node.hostname} ({node.address})"] = _check_result(node, head_versions, start)
    nodes["cluster"] = [ok("cluster", f"Nodes: {len(nodes)}; CPUs: {cpus}.")]
    return nodes, head_versions, connection.dashboard


@contextmanager
def _shared_file(target: str | None) -> Iterator[str | None]:
    """Write a file to the target from the head node, and yield its URI. The other nodes look for it."""
    if target is None:
        yield None
        return
    with probe_folder(target) as folder:
        shared = storage.join(folder, PROBE)
        with suppress(Exception):  # the checks of the nodes report errors of the target
            storage.create(shared, CONTENT)
        yield shared


def _check_result(node: NodeResult, head_versions: dict[str, str | None], start: float) -> list[CheckResult]:
    """Return the results of a node, and compare its versions and its clock with those of the head node.

    Args:
        node: the result of `check_node`, just received.
        head_versions: versions of packages on the head node.
        start: time at which the head node submitted the task.
    """
    if node.error is not None:
        message = f"Did not finish a task within {NODE_SECONDS} s ({node.error}): see `ray status`."
        return [problem("node", message)]
    report = node.value
    # The node read its clock between `start` and now, so any time between them is right.
    expected = min(max(report["time"], start), time.time())
    return [
        check_same_versions(head_versions, report["versions"], "the head", MUST_MATCH),
        check_clock("clock", report["time"], expected, "this node"),
        *report["results"],
    ]


class NodeReport(Record):
    """What the job prints as JSON."""

    nodes: dict[str, list[tuple[str, Level, str]]]
    """Check, level and message of each result, by name of the node, or "cluster" for the cluster as a whole."""
    versions: dict[str, str | None] = Field(default_factory=dict)
    """Versions of packages on the head node."""
    dashboard: str | None = None
    """Address of the dashboard inside the cluster."""


def read_results(log: str) -> NodeReport | None:
    """Return the report in the log of the job, or None if the job printed none.

    Raises:
        ValueError: if it is not JSON of this form.
    """
    lines = [line for line in log.splitlines() if line.startswith(PREFIX)]
    return NodeReport.model_validate_json(lines[-1].removeprefix(PREFIX)) if lines else None


def main(arguments: list[str]) -> None:
    """Check all nodes, and print one line of JSON with the results."""
    nodes, versions, dashboard = check_nodes(*arguments or [None])
    results = {name: [[each.check, each.level, each.message] for each in listed] for name, listed in nodes.items()}
    print(PREFIX + json.dumps({"nodes": results, "versions": versions, "dashboard": dashboard}))


if __name__ == "__main__":
    main(sys.argv[1:])
