"""Commands of bitcipher as jobs on a Ray cluster: a thin layer over Ray's job client.

The code of this installation travels as the job's working directory, so the nodes need only what it depends on.
"""

import asyncio
import shlex
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bitcipher.errors import BitcipherError, first_line
from cluster.jobs.job_paths import translate_paths
from cluster.jobs.job_server import DEFAULT_ADDRESS, connect, find_address, is_loopback
from cluster.jobs.working_dir import pack

if TYPE_CHECKING:
    from ray.job_submission import JobDetails, JobSubmissionClient
    from typer.core import TyperCommand, TyperGroup

# These speak to a cluster from outside.
NOT_AS_JOBS = ("submit", "doctor")

# How often a job's end is asked for when its log has ended; that takes a moment at most, unless a node was lost.
POLL_SECONDS = 0.5

# What a shell gives for a program that Ctrl-C has stopped.
INTERRUPTED = 130


def submit(
    commands: "Mapping[str, TyperCommand | TyperGroup]",
    command: Sequence[str],
    address: str | None,
    working_dir: str | None,
    env: Sequence[str],
    no_wait: bool,
) -> int:
    """Run a command as a job, and follow it.

    Args:
        commands: the commands that there are, and groups of them.
        command: the name of one, and its arguments.
        address: the cluster's dashboard; None for that of the environment, else of this machine.
        working_dir: a folder of small files that the job starts in.
        env: `NAME=VALUE` for the job's environment.
        no_wait: print the job's name instead of following it.

    Returns:
        The job's exit code: 0 if it went well, 2 for a user's mistake.

    Raises:
        BitcipherError: if the command cannot be sent, or the cluster cannot be reached.
    """
    address = find_address(address) or DEFAULT_ADDRESS
    jobs = jobs_of(commands)
    name = next((name for name in jobs if tuple(command[: len(name)]) == name), None)
    if name is None:
        allowed = ", ".join(map(" ".join, jobs))
        raise BitcipherError(f"There is no command {command[0]!r} to submit: choose {allowed}.")
    is_here = is_loopback(urlsplit(address).hostname)
    arguments = translate_paths(jobs[name], command[len(name) :], working_dir, is_here)
    variables = read_variables(env)
    client = connect(address)
    job = start_job(client, ["cluster.cli.main", *name, *arguments], variables, working_dir)
    if no_wait:
        print(job)
        return 0
    return follow(client, address, job)


def jobs_of(commands: "Mapping[str, TyperCommand | TyperGroup]") -> "dict[tuple[str, ...], TyperCommand]":
    """The commands that can be jobs, by their names: two where one belongs to a group, as `reproduce tables` does."""
    jobs = {}
    for name, command in commands.items():
        if name not in NOT_AS_JOBS:
            inner = getattr(command, "commands", None)
            jobs |= {(name, each): inner[each] for each in inner} if inner else {(name,): command}
    return jobs


def read_variables(given: Sequence[str]) -> dict[str, str]:
    """Variables of an environment, of `NAME=VALUE` each.

    Raises:
        BitcipherError: if one is something else.
    """
    variables = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals or not name.isidentifier():
            raise BitcipherError(f"--env takes NAME=VALUE, not {name}.")
        variables[name] = value
    return variables


def start_job(
    client: "JobSubmissionClient", module: Sequence[str], variables: Mapping[str, str], along: str | None = None
) -> str:
    """Send the code, and start a module of it with arguments.

    Args:
        client: where to.
        module: the module's name, and its arguments.
        variables: for the job's environment.
        along: a folder of small files to send as well.

    Returns:
        The job's name.

    Raises:
        BitcipherError: if the folder cannot travel, or the cluster does not take the job.
    """
    with tempfile.TemporaryDirectory(prefix="bitcipher-") as folder:
        pack(Path(folder), along)
        # Ray names a package after its content, and removes it with the job that brought it: if another job has the
        # same code, the package may go while this one needs it.
        (Path(folder) / "package-of-job").write_text(uuid.uuid4().hex)
        try:
            return client.submit_job(
                entrypoint=shlex.join(["python", "-m", *module]),
                runtime_env={"working_dir": folder, "env_vars": {"RAY_USAGE_STATS_ENABLED": "0", **variables}},
            )
        except (RuntimeError, OSError) as error:
            raise BitcipherError(f"The cluster does not take the job: {first_line(error)}.") from None


def follow(client: "JobSubmissionClient", address: str, job: str) -> int:
    """Print a job's log until it ends.

    Returns:
        The job's exit code, or 130 after Ctrl-C, which leaves the job running.
    """
    try:
        try:
            asyncio.run(_print_log(client, job))
        except (RuntimeError, OSError) as error:
            print(f"bitcipher: the log ends here ({first_line(error)}); waiting for the job.", file=sys.stderr)
        return exit_code(wait_for(client, job), job)
    except KeyboardInterrupt:
        print(
            f"\nbitcipher: the job {job} goes on.\n"
            f"  follow it: ray job logs --follow --address {address} {job}\n"
            f"  stop it:   ray job stop --address {address} {job}",
            file=sys.stderr,
        )
        return INTERRUPTED


def wait_for(client: "JobSubmissionClient", job: str, seconds: float = float("inf")) -> "JobDetails":
    """A job once it has ended, or as it is after so many seconds.

    Raises:
        BitcipherError: if the cluster has gone.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            details = client.get_job_info(job)
        except (RuntimeError, OSError) as error:
            raise BitcipherError(f"The cluster no longer tells of the job {job}: {first_line(error)}.") from None
        if details.status.is_terminal() or time.monotonic() > deadline:
            return details
        time.sleep(POLL_SECONDS)


def exit_code(details: "JobDetails", job: str) -> int:
    """The exit code that a job gives: its own if Ray knows it, else 1 and a sentence on stderr."""
    if details.status == "SUCCEEDED":
        return 0
    code = details.driver_exit_code
    if details.status == "STOPPED":
        print(f"bitcipher: the job {job} was stopped.", file=sys.stderr)
    elif not code:
        print(f"bitcipher: the job {job} failed: {first_line(details.message)}.", file=sys.stderr)
    if not code:
        return 1
    # Killed by a signal: as a shell gives it.
    return code if code > 0 else 128 - code


async def _print_log(client: "JobSubmissionClient", job: str) -> None:
    async for text in client.tail_job_logs(job):
        print(text, end="", flush=True)
