"""Checks of a cluster through its dashboard: whether it is reachable and protected, and its clock."""

import time
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from bitcipher.errors import BitcipherError
from cluster.doctor.check_result import CheckResult, Level, ok, problem, warning
from cluster.doctor.clock import check_clock
from cluster.jobs.job_server import get_without_token, is_loopback

HTTP_OK = 200


def check_dashboard(address: str) -> list[CheckResult]:
    """Check that the dashboard responds, requires a token and is not exposed, and that its clock agrees with this one.

    Args:
        address: URL of the dashboard, as `cluster.jobs.job_server.find_address` returns it.
    """
    try:
        response = get_without_token(address, "/api/jobs/")
    except BitcipherError as error:
        return [problem("address", str(error))]
    is_list = response.content.lstrip().startswith(b"[")
    if response.status_code not in (401, 403) and not (response.status_code == HTTP_OK and is_list):
        reason = (
            "it answers without a list of jobs" if response.status_code == HTTP_OK else f"HTTP {response.status_code}"
        )
        return [problem("address", f"The server at {address} is not a Ray dashboard ({reason}): check the address.")]
    token = check_token(response.status_code)
    results = [ok("address", f"{address} responds."), token, check_exposure(address, token.level is Level.OK)]
    if "Date" in response.headers:
        results.append(_check_date(response.headers["Date"]))
    return results


def _check_date(date: str) -> CheckResult:
    try:
        theirs = parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return warning("cluster's clock", f"The dashboard sends {date[:80]!r} as its date: check what answers there.")
    return check_clock("cluster's clock", theirs, time.time(), "the cluster")


def check_token(status: int) -> CheckResult:
    """Check that a request without a token was refused.

    Args:
        status: HTTP status of a request for the list of jobs without a token.
    """
    if status in (401, 403):
        return ok("token", "Requests without a token are refused.")
    if status == HTTP_OK:
        return problem(
            "token",
            "Everyone who can reach this cluster can run code on it: run `ray get-auth-token --generate`, copy "
            "~/.ray/auth_token to all nodes, and start Ray with RAY_AUTH_MODE=token.",
        )
    return problem("token", f"This is not a Ray dashboard (HTTP {status}): check the address.")


def check_exposure(url: str, has_token: bool) -> CheckResult:
    """Check that the dashboard is reachable only from its own machine.

    Args:
        url: URL by which this machine, or the cluster itself, reaches the dashboard.
        has_token: whether the dashboard requires a token.
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return warning("dashboard", f"The cluster reports {url[:80]!r} as the address of its dashboard: check it.")
    if is_loopback(host):
        return ok("dashboard", f"Bound to loopback ({host}).")
    advice = "start Ray with --dashboard-host=127.0.0.1, and forward its port with ssh -L or kubectl port-forward"
    message = f"Other machines can reach the dashboard at {host}"
    if has_token:
        return warning("dashboard", f"{message}, with a token that is sent unencrypted: {advice}.")
    return problem("dashboard", f"{message}: {advice}.")
