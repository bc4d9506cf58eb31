"""The whole of `bitcipher doctor`: what it checks, in which order, and how it shows it."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bitcipher.errors import BitcipherError, first_line
from cluster.doctor.dashboard import check_dashboard, check_exposure
from cluster.doctor.finding import CheckResult, Level, problem
from cluster.doctor.machine import check_machine
from cluster.doctor.nodes import NODE_SECONDS, read_answer
from cluster.doctor.package_versions import check_same_versions, check_versions, installed_versions
from cluster.doctor.storage import check_target
from cluster.jobs.job_paths import translate_path
from cluster.jobs.job_server import connect, find_address, is_loopback
from cluster.jobs.submit import start_job, wait_for

STYLES = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "bold red"}

# Ray needs some time to start a job, and the nodes theirs to answer.
JOB_SECONDS = NODE_SECONDS + 120

HERE = "this machine"


def run_checks(address: str | None, target: str | None) -> int:
    """Check this machine, the target if one is named, and the cluster if one is, and print the findings.

    Args:
        address: the cluster's dashboard; None for that of the environment, if it has one.
        target: a folder that builds are to be written to, path or URI.

    Returns:
        0, or 2 if there is a problem.

    Raises:
        BitcipherError: if the address is none of a dashboard.
    """
    address = find_address(address)
    found = {HERE: [check_versions(installed_versions()), *check_machine()]}
    if target:
        found[HERE] += check_target(target)
    if address:
        found |= check_cluster(address, target)
    print_results(found)
    return 2 if any(each.level is Level.PROBLEM for findings in found.values() for each in findings) else 0


def check_cluster(address: str, target: str | None) -> dict[str, list[CheckResult]]:
    """Findings on a cluster: what one sees from here, and then what a job there sees on each node."""
    findings = check_dashboard(address)
    if any(each.check == "address" and each.level is Level.PROBLEM for each in findings):
        return {"cluster": findings}
    has_token = any(each.check == "token" and each.level is Level.OK for each in findings)
    try:
        answer = _ask_nodes(address, target)
    except BitcipherError as error:
        return {"cluster": [*findings, problem("job", str(error))]}
    nodes = {
        name: [CheckResult(check, Level(level), says) for check, level, says in listed]
        for name, listed in answer["nodes"].items()
    }
    findings += nodes.pop("cluster")
    # A forwarded port looks like loopback from here; the cluster itself knows better.
    inside = check_exposure(answer["dashboard"], has_token)
    findings = [inside if each.check == "dashboard" else each for each in findings]
    findings.append(check_same_versions(installed_versions(), answer["versions"], HERE))
    return {"cluster": findings, **nodes}


def _ask_nodes(address: str, target: str | None) -> dict:
    client = connect(address)
    arguments = [translate_path(target, None, is_loopback(urlsplit(address).hostname))] if target else []
    job = start_job(client, ["cluster.doctor.nodes", *arguments], {})
    details = wait_for(client, job, JOB_SECONDS)
    answer = read_answer(client.get_job_logs(job))
    if answer is None:
        if not details.status.is_terminal():
            client.stop_job(job)
        raise BitcipherError(
            f"The cluster ran no job to its end within {JOB_SECONDS} s ({first_line(details.message)}): "
            f"see `ray job logs --address {address} {job}`."
        )
    return answer


def print_results(found: dict[str, Iterable[CheckResult]]) -> None:
    """Print the findings as a table."""
    table = Table("where", "check", "", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("what", overflow="fold")
    for where, findings in found.items():
        for finding in findings:
            # Paths and names come from outside: a bracket in them is a bracket, not markup.
            level = Text(finding.level, style=STYLES[finding.level])
            table.add_row(Text(where), Text(finding.check), level, Text(finding.says))
            where = ""
    Console(highlight=False).print(table)
