"""Ray's job server on a cluster: where it is, whether it answers, and a client for it."""

import ipaddress
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bitcipher.errors import BitcipherError, first_line

if TYPE_CHECKING:
    import requests
    from ray.job_submission import JobSubmissionClient

DEFAULT_ADDRESS = "http://127.0.0.1:8265"
ADDRESS_VARIABLES = ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS")

# A dashboard that has not answered by then is behind a wall that swallows packets.
TIMEOUT_SECONDS = 10

# They tell of each upload and each closed connection, among the lines of the job's own log.
TALKATIVE = (
    "ray.dashboard.modules.dashboard_sdk",
    "ray.dashboard.modules.job.sdk",
    "ray._private.runtime_env.packaging",
)

TOKEN_HELP = (
    "`ray get-auth-token` on the cluster's head shows the token; put it into ~/.ray/auth_token here, "
    "or name its file by RAY_AUTH_TOKEN_PATH"
)


def find_address(given: str | None) -> str | None:
    """The address that is given, else that of the environment, without a slash at its end; None if there is neither.

    Raises:
        BitcipherError: if it is not an http address.
    """
    ray_address = os.environ.get("RAY_ADDRESS", "")
    inherited = os.environ.get("RAY_API_SERVER_ADDRESS") or (ray_address if ray_address.startswith("http") else None)
    address = given or inherited
    if address is None:
        return None
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BitcipherError(
            f"{address} is not the address of a Ray dashboard, which takes jobs: it begins with http:// or https://, "
            f"such as {DEFAULT_ADDRESS}."
        )
    return address.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host's name or IP address is this machine's own, which no other machine reaches."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def ask(address: str, path: str) -> "requests.Response":
    """What the job server answers to a request without a token.

    Raises:
        BitcipherError: if nothing answers.
    """
    requests = _import_requests()
    try:
        return requests.get(address + path, timeout=TIMEOUT_SECONDS)
    except requests.RequestException as error:
        reason = "no answer in time" if isinstance(error, requests.Timeout) else "no connection"
        raise BitcipherError(
            f"Cannot reach a Ray dashboard at {address} ({reason}): check the address, that Ray runs there, and that "
            "a dashboard bound to loopback is forwarded (ssh -L, or kubectl port-forward)."
        ) from None


def connect(address: str) -> "JobSubmissionClient":
    """A client of the job server, which has let us in.

    The token is that of RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token; RAY_AUTH_MODE=disabled sends none.

    Raises:
        BitcipherError: if nothing answers, it is not Ray, or the token is missing or wrong.
    """
    _import_requests()
    answer = ask(address, "/api/version")
    if answer.status_code not in (200, 401, 403):
        raise BitcipherError(f"What answers at {address} is not a Ray dashboard (HTTP {answer.status_code}).")
    _use_token_if_there_is_one()
    from ray.exceptions import AuthenticationError
    from ray.job_submission import JobSubmissionClient

    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        with _without_variables(ADDRESS_VARIABLES):
            client = JobSubmissionClient(address)
        # The version is told to everybody; the list of jobs only to those with the token.
        client.list_jobs()
    except AuthenticationError:
        raise BitcipherError(f"The Ray cluster at {address} wants another token: {TOKEN_HELP}.") from None
    except (RuntimeError, ConnectionError, ValueError) as error:
        raise BitcipherError(f"The Ray dashboard at {address} takes no jobs: {first_line(error)}.") from None
    return client


def _use_token_if_there_is_one() -> None:
    """Let Ray send a token that is there; by itself its job client does so only where RAY_AUTH_MODE is set."""
    named = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    if named or Path.home().joinpath(".ray", "auth_token").is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def _import_requests():
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import aiohttp  # noqa: F401
        import requests
    except ImportError:
        raise BitcipherError('Jobs need more of Ray: pip install "bitcipher[cluster]".') from None
    return requests


@contextmanager
def _without_variables(names: tuple[str, ...]) -> Iterator[None]:
    """Without these variables of the environment: Ray would prefer them to the address that it is given."""
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)
