"""Ray's job server on a cluster: its address, requests without a token, and an authenticated client."""

import ipaddress
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bitcipher.errors import BitcipherError
from bitcipher.installation import install_command
from cluster.jobs.dashboard_requests import SERVER_ERRORS, describe, send

if TYPE_CHECKING:
    import requests
    from ray.job_submission import JobSubmissionClient

DEFAULT_ADDRESS = "http://127.0.0.1:8265"
ADDRESS_VARIABLES = ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS")

# Loggers whose messages about uploads and closed connections would appear between the lines of the job's log.
NOISY_LOGGERS = (
    "ray.dashboard.modules.dashboard_sdk",
    "ray.dashboard.modules.job.sdk",
    "ray._private.runtime_env.packaging",
)

TOKEN_HELP = (
    "`ray get-auth-token` on the head node shows the token; put it into ~/.ray/auth_token here, "
    "or set RAY_AUTH_TOKEN_PATH to its file"
)


def find_address(given: str | None) -> str | None:
    """Return the address of the Ray dashboard without a trailing slash, or None if there is none.

    Args:
        given: address given by the user. By default, RAY_API_SERVER_ADDRESS is used, or else RAY_ADDRESS if it is an
            HTTP address.

    Raises:
        BitcipherError: if the address is not an HTTP address.
    """
    ray_address = os.environ.get("RAY_ADDRESS", "")
    inherited = os.environ.get("RAY_API_SERVER_ADDRESS") or (ray_address if ray_address.startswith("http") else None)
    address = given or inherited
    if address is None:
        return None
    if not _is_web_address(address):
        raise BitcipherError(
            f"{address} is not the address of a Ray dashboard: it must begin with http:// or https://, such as "
            f"{DEFAULT_ADDRESS}."
        )
    return address.rstrip("/")


def _is_web_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets without an IPv6 address, or a port that is not a number
        return False


def is_loopback(host: str | None) -> bool:
    """Return whether a host name or IP address is a loopback address, which no other machine can reach."""
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def get_without_token(address: str, path: str) -> "requests.Response":
    """Return the job server's response to a GET request without a token.

    Args:
        address: URL of the dashboard.
        path: path of the request, such as "/api/version".

    Raises:
        BitcipherError: if there is no response, or one that is a redirect, too large or too slow.
    """
    requests = _import_requests()
    try:
        return send(address, "GET", partial(requests.get, address + path))
    except SERVER_ERRORS as error:  # a URL without a valid host is a ValueError
        raise BitcipherError(
            f"Cannot reach a Ray dashboard at {address} ({describe(error)}): check the address, that Ray runs there, "
            "and that the port of a dashboard bound to loopback is forwarded (ssh -L, or kubectl port-forward)."
        ) from None


def connect(address: str) -> "JobSubmissionClient":
    """Return an authenticated client of the job server.

    The token comes from RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token; RAY_AUTH_MODE=disabled sends none.

    Raises:
        BitcipherError: if there is no response, the server is not Ray, or the token is missing or wrong.
    """
    _import_requests()
    response = get_without_token(address, "/api/version")
    if response.status_code not in (200, 401, 403):
        raise BitcipherError(
            f"The server at {address} is not a Ray dashboard (HTTP {response.status_code}): check the address."
        )
    _enable_token()
    from ray.exceptions import AuthenticationError

    try:
        with _without_variables(ADDRESS_VARIABLES):
            client = _make_client(address)
        # The version needs no token, but the list of jobs does.
        client.list_jobs()
    except AuthenticationError:
        raise BitcipherError(f"The Ray cluster at {address} refuses this token: {TOKEN_HELP}.") from None
    except SERVER_ERRORS as error:
        raise BitcipherError(f"The Ray dashboard at {address} accepts no jobs: {describe(error)}.") from None
    return client


def _make_client(address: str) -> "JobSubmissionClient":
    from ray.job_submission import JobSubmissionClient

    for name in NOISY_LOGGERS:  # after the import, which sets their levels
        logging.getLogger(name).setLevel(logging.WARNING)

    class BoundedClient(JobSubmissionClient):
        """Client whose requests end in time, are small, and follow no redirect, which would get the token."""

        def _do_request(self, method: str, endpoint: str, **arguments: Any) -> "requests.Response":
            return send(address, method, partial(super()._do_request, method, endpoint, **arguments))

    return BoundedClient(address)


def _enable_token() -> None:
    """Set RAY_AUTH_MODE if there is a token, because Ray's job client sends the token only if the variable is set."""
    is_in_environment = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    if is_in_environment or Path.home().joinpath(".ray", "auth_token").is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def _import_requests():
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import aiohttp  # noqa: F401
        import requests
    except ImportError:
        raise BitcipherError(f"Ray's job client is not installed: {install_command('cluster')}.") from None
    return requests


@contextmanager
def _without_variables(names: tuple[str, ...]) -> Iterator[None]:
    """Unset environment variables, which Ray would use instead of the given address."""
    saved = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(saved)
