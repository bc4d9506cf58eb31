"""`run_checks`: runs all checks of `bitcipher doctor`."""

from urllib.parse import urlsplit

from bitcipher.errors import BitcipherError, first_line
from cluster.doctor.check_result import CheckResult, Level, problem
from cluster.doctor.dashboard import check_dashboard, check_exposure
from cluster.doctor.machine import check_machine
from cluster.doctor.nodes import NODE_SECONDS, NodeReport, read_results
from cluster.doctor.package_versions import check_same_versions, check_versions, installed_versions
from cluster.doctor.storage import check_target
from cluster.jobs.dashboard_requests import SERVER_ERRORS, describe
from cluster.jobs.job_paths import translate_path
from cluster.jobs.job_server import connect, find_address, is_loopback
from cluster.jobs.submit import start_job, wait_for

# Maximum time in seconds for Ray to start a job, and for the nodes to finish their checks.
JOB_SECONDS = NODE_SECONDS + 120

THIS_MACHINE = "this machine"


def run_checks(address: str | None, target: str | None) -> dict[str, list[CheckResult]]:
    """Check this machine, a storage target and a cluster.

    Args:
        address: URL of the cluster's Ray dashboard. By default, the environment variables of Ray are used; without
            them, no cluster is checked.
        target: path or URI of a directory for builds. By default, no target is checked.

    Returns:
        Results by where they were found: "this machine", "cluster" for the cluster as a whole, or name of a node.

    Raises:
        BitcipherError: if the address is not that of a dashboard.
    """
    address = find_address(address)
    results = {THIS_MACHINE: [check_versions(installed_versions()), *check_machine()]}
    if target:
        results[THIS_MACHINE] += check_target(target)
    if address:
        results |= check_cluster(address, target)
    return results


def has_problem(results: dict[str, list[CheckResult]]) -> bool:
    """Return whether a result is a problem."""
    return any(each.level is Level.PROBLEM for group in results.values() for each in group)


def check_cluster(address: str, target: str | None) -> dict[str, list[CheckResult]]:
    """Return the results of checks of a cluster, by name of the node, or "cluster" for the cluster as a whole."""
    results = check_dashboard(address)
    if any(each.check == "address" and each.level is Level.PROBLEM for each in results):
        return {"cluster": results}
    has_token = any(each.check == "token" and each.level is Level.OK for each in results)
    try:
        report = _check_nodes(address, target)
    except BitcipherError as error:
        return {"cluster": [*results, problem("job", str(error))]}
    nodes = {name: [CheckResult(*each) for each in listed] for name, listed in report.nodes.items()}
    results += nodes.pop("cluster", [])
    if report.dashboard is not None:
        # A forwarded port looks like loopback from this machine, so the address inside the cluster is checked instead.
        exposure = check_exposure(report.dashboard, has_token)
        results = [exposure if each.check == "dashboard" else each for each in results]
    results.append(check_same_versions(installed_versions(), report.versions, THIS_MACHINE))
    return {"cluster": results, **nodes}


def _check_nodes(address: str, target: str | None) -> NodeReport:
    """Run `cluster.doctor.nodes` as a job, and return the JSON object that it prints."""
    client = connect(address)
    arguments = [translate_path(target, None, is_loopback(urlsplit(address).hostname))] if target else []
    job = start_job(client, ["cluster.doctor.nodes", *arguments], {})
    details = wait_for(client, job, JOB_SECONDS)
    try:
        report = read_results(client.get_job_logs(job))
        if report is None and not details.status.is_terminal():
            client.stop_job(job)
    except SERVER_ERRORS as error:
        raise BitcipherError(f"Cannot read the results of the job {job}: {describe(error)}.") from None
    if report is None:
        raise BitcipherError(
            f"The cluster did not finish a job within {JOB_SECONDS} s ({first_line(details.message)}): "
            f"see `ray job logs --address {address} {job}`."
        )
    return report
