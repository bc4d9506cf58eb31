"""Checks of a cluster from outside, by its dashboard: reached, shut to strangers, in time."""

import time
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from bitcipher.errors import BitcipherError
from cluster.doctor.clock import check_clock
from cluster.doctor.finding import CheckResult, Level, ok, problem, warning
from cluster.jobs.job_server import ask, is_loopback


def check_dashboard(address: str) -> list[CheckResult]:
    """Whether the dashboard answers, wants a token, and has the right time.

    Args:
        address: as of `cluster.jobs.job_server.find_address`.
    """
    try:
        answer = ask(address, "/api/jobs/")
    except BitcipherError as error:
        return [problem("address", str(error))]
    token = check_token(answer.status_code)
    findings = [ok("address", f"{address} answers."), token, check_exposure(address, token.level is Level.OK)]
    if "Date" in answer.headers:
        told = parsedate_to_datetime(answer.headers["Date"]).timestamp()
        findings.append(check_clock("cluster's clock", told, time.time(), "the cluster"))
    return findings


def check_token(status: int) -> CheckResult:
    """Whether a request without a token was refused.

    Args:
        status: of HTTP, to a request for the list of jobs.
    """
    if status in (401, 403):
        return ok("token", "Requests without a token are refused.")
    if status == 200:
        return problem(
            "token",
            "Everybody who reaches this cluster can run code on it: run `ray get-auth-token --generate`, give "
            "~/.ray/auth_token to all nodes, and start Ray with RAY_AUTH_MODE=token.",
        )
    return problem("token", f"This is not a Ray dashboard that takes jobs (HTTP {status}): check the address.")


def check_exposure(url: str, has_token: bool) -> CheckResult:
    """Whether the dashboard is reached from its own machine only.

    Args:
        url: of the dashboard, as we or the cluster itself reach it.
        has_token: whether it wants a token.
    """
    host = urlsplit(url).hostname or ""
    if is_loopback(host):
        return ok("dashboard", f"Reached by loopback ({host}).")
    advice = "start Ray with --dashboard-host=127.0.0.1, and reach it by ssh -L or kubectl port-forward"
    says = f"Others reach the dashboard at {host}"
    if has_token:
        return warning("dashboard", f"{says}, with the token that travels unencrypted: {advice}.")
    return problem("dashboard", f"{says}: {advice}.")
