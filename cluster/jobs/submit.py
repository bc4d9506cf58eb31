"""Submit bitcipher commands as jobs of a Ray cluster, through Ray's job client.

The code of this installation is sent with the job, so the nodes only need its dependencies. Ray imports it before other
code: a user's folder of the name of one of our packages can be in the working directory of the job.
"""

import asyncio
import re
import shlex
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bitcipher.errors import BitcipherError, first_line
from bitcipher.redaction import query_parameters, redact
from bitcipher.terminal import print_text
from cluster.jobs.dashboard_requests import SERVER_ERRORS, describe
from cluster.jobs.job_paths import translate_paths
from cluster.jobs.job_server import DEFAULT_ADDRESS, connect, find_address, is_loopback
from cluster.jobs.known_secrets import describe_variable, has_token
from cluster.jobs.working_dir import pack_code, pack_files

if TYPE_CHECKING:
    from ray.job_submission import JobDetails, JobSubmissionClient
    from typer.core import TyperCommand

# Commands that cannot be jobs: they contact a cluster from this machine, or listen on an address of it.
LOCAL_COMMANDS = ("submit", "doctor", "serve")

# Interval of status requests after the log has ended. The status follows within a moment, unless a node was lost.
POLL_SECONDS = 0.5

# Attempts to start a job. A node that has just started, or that is busy, accepts no jobs for a moment: Ray waits 10 s,
# and then answers with this message.
ATTEMPTS = 6
NO_AGENT = "No available agent to submit job"

# IDs of jobs as Ray makes them. They become parts of addresses and of commands.
_JOB_ID = re.compile(r"[\w.-]{1,200}")

# Exit code of a program that Ctrl-C has interrupted, as shells report it.
INTERRUPTED = 130


def submit(
    commands: "Mapping[str, TyperCommand]",
    command: Sequence[str],
    address: str | None,
    working_dir: str | None,
    env: Sequence[str],
    no_wait: bool,
    include: Sequence[str] = (),
) -> int:
    """Run a command as a job and follow its log.

    Args:
        commands: all commands by their full names, such as `study bit-cipher tables`.
        command: name of the command, and its arguments.
        address: URL of the cluster's Ray dashboard. By default, the environment variables of Ray are used, or else the
            dashboard of this machine.
        working_dir: directory of small files. The job starts in a copy of it.
        env: `NAME=VALUE` items for the environment of the job.
        no_wait: whether to print the job's ID instead of following its log.
        include: paths in `working_dir` of files that are sent although they are hidden or hold a secret.

    Returns:
        The exit code of the job: 0 for success, 2 for a mistake of the user.

    Raises:
        BitcipherError: if the command or its environment has credentials, the command cannot be submitted, or the
            cluster cannot be reached.
    """
    _check_credentials(command)
    address = find_address(address) or DEFAULT_ADDRESS
    jobs = jobs_of(commands)
    name = next((name for name in jobs if tuple(command[: len(name)]) == name), None)
    if name is None:
        allowed = ", ".join(map(" ".join, jobs))
        # The words of a group, and the one after them.
        length = next(n for n in count(1) if not any(name[:n] == tuple(command[:n]) for name in jobs))
        words = " ".join(command[:length])
        raise BitcipherError(f"{words!r} is not a command that can be submitted: choose {allowed}.")
    is_local = is_loopback(urlsplit(address).hostname)
    arguments = translate_paths(jobs[name], command[len(name) :], working_dir, is_local)
    variables = read_variables(env)
    client = connect(address)
    job = start_job(client, ["cluster.cli.main", *name, *arguments], variables, working_dir, include)
    if no_wait:
        print_text(job)
        return 0
    return follow(client, address, job)


def _check_credentials(command: Sequence[str]) -> None:
    # Ray shows the command of a job to everyone who can see the dashboard.
    uri = next((argument for argument in command if redact(argument) != argument), None)
    if uri is not None:
        raise BitcipherError(
            f"{uri} has credentials, which everyone who sees the job could read: write the URI into a file whose name "
            "ends in .paths and that every node can read, and submit the path of this file."
        )
    position = next((position for position, argument in enumerate(command, 1) if has_token(argument)), None)
    if position is not None:
        raise BitcipherError(
            f"Argument {position} of the command has a token, which everyone who sees the job could read: set it in "
            "the environment of the nodes."
        )
    if names := list(dict.fromkeys(name for argument in command for name in query_parameters(argument))):
        print_text(
            f"bitcipher: everyone who sees the job can read the query parameters {', '.join(names)} of its command; if "
            "they grant access, write the URI into a file whose name ends in .paths and that every node can read, and "
            "submit the path of this file.",
            err=True,
        )


def jobs_of(commands: "Mapping[str, TyperCommand]") -> "dict[tuple[str, ...], TyperCommand]":
    """Return the commands that can be jobs, by the words of their names."""
    return {tuple(name.split()): command for name, command in commands.items() if name not in LOCAL_COMMANDS}


def read_variables(items: Sequence[str]) -> dict[str, str]:
    """Return environment variables from `NAME=VALUE` items.

    Raises:
        BitcipherError: if an item has another form, or is a secret.
    """
    variables = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name.isidentifier():
            raise BitcipherError(f"`--env` must be NAME=VALUE, got {name}.")
        variables[name] = value
    reasons = {name: describe_variable(name, value) for name, value in variables.items()}
    if found := [f"{name} (by {reason})" for name, reason in reasons.items() if reason]:
        raise BitcipherError(
            f"`--env` has secrets, which everyone who sees the job could read: {', '.join(found)}. Set them in the "
            "environment of the nodes, such as by a Secret of Kubernetes or before `ray start`."
        )
    return variables


def start_job(
    client: "JobSubmissionClient",
    module: Sequence[str],
    variables: Mapping[str, str],
    working_dir: str | None = None,
    include: Sequence[str] = (),
) -> str:
    """Send the code and start one of its modules as a job.

    Args:
        client: client of the cluster.
        module: name of the module, and its arguments.
        variables: environment variables of the job.
        working_dir: directory of small files to send with the code.
        include: paths in `working_dir` of files that are sent although they are hidden or hold a secret.

    Returns:
        The ID of the job.

    Raises:
        BitcipherError: if the directory cannot be sent, or the cluster refuses the job.
    """
    with tempfile.TemporaryDirectory(prefix="bitcipher-") as folder:
        files, code = Path(folder, "files"), Path(folder, "code")
        files.mkdir()
        pack_files(files, working_dir, include)
        packages = pack_code(code)
        # Ray names each uploaded folder after its content, and removes it with the job that uploaded it. A unique file
        # prevents another job with the same content from removing the folder of this job.
        for sent in (files, *packages):
            (sent / "package-of-job").write_text(uuid.uuid4().hex)
        # Without `-P`, Python would import modules of the working directory first.
        entrypoint = shlex.join(["python", "-P", "-m", *module])
        environment = {
            "working_dir": str(files),
            "py_modules": list(map(str, packages)),
            "env_vars": {"RAY_USAGE_STATS_ENABLED": "0", **variables},
        }
        attempts = 0
        while True:
            try:
                job = client.submit_job(entrypoint=entrypoint, runtime_env=environment)
                if not isinstance(job, str) or not _JOB_ID.fullmatch(job):
                    raise TypeError
                return job
            except SERVER_ERRORS as error:
                attempts += 1
                if NO_AGENT not in str(error) or attempts == ATTEMPTS:
                    raise BitcipherError(f"The cluster refused the job: {describe(error)}.") from None
            if attempts == 1:
                print_text("bitcipher: the cluster does not accept jobs yet; trying again for a minute.", err=True)


def follow(client: "JobSubmissionClient", address: str, job: str) -> int:
    """Print the log of a job until it ends.

    Returns:
        The exit code of the job, or 130 after Ctrl-C, which leaves the job running.
    """
    from aiohttp import ClientError

    try:
        try:
            asyncio.run(_print_log(client, job))
        except (*SERVER_ERRORS, ClientError) as error:
            print_text(f"bitcipher: the log is cut off ({describe(error)}); waiting for the job.", err=True)
        return exit_code(wait_for(client, job), job)
    except KeyboardInterrupt:
        address = redact(address)
        print_text(
            f"\nbitcipher: the job {job} continues.\n"
            f"  follow it: ray job logs --follow --address {address} {job}\n"
            f"  stop it:   ray job stop --address {address} {job}",
            err=True,
        )
        return INTERRUPTED


def wait_for(client: "JobSubmissionClient", job: str, seconds: float = float("inf")) -> "JobDetails":
    """Wait until a job ends, or for a number of seconds, and return its details.

    Raises:
        BitcipherError: if the cluster no longer answers.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            details = client.get_job_info(job)
        except SERVER_ERRORS as error:
            raise BitcipherError(f"The cluster no longer reports on the job {job}: {describe(error)}.") from None
        if details.status.is_terminal() or time.monotonic() > deadline:
            return details
        time.sleep(POLL_SECONDS)


def exit_code(details: "JobDetails", job: str) -> int:
    """Return the exit code of a job, or 1 if Ray does not report it. Print the reason to stderr if the job failed."""
    if details.status == "SUCCEEDED":
        return 0
    code = details.driver_exit_code
    if details.status == "STOPPED":
        print_text(f"bitcipher: the job {job} was stopped.", err=True)
    elif not code:
        print_text(f"bitcipher: the job {job} failed: {first_line(details.message)}.", err=True)
    if not code:
        return 1
    # A negative code means that a signal killed the job. Shells report 128 plus the number of the signal.
    return code if code > 0 else 128 - code


async def _print_log(client: "JobSubmissionClient", job: str) -> None:
    async for text in client.tail_job_logs(job):
        print_text(text, end="")
