"""Commands for Ray clusters: `submit` and `doctor`."""

from typing import Annotated

import typer

from cluster.cli.options import Address, AsJson
from cluster.metavars import PATH


def submit(
    command: Annotated[
        list[str], typer.Argument(help="After `--`: a bitcipher command with its arguments.", metavar="COMMAND")
    ],
    address: Address = None,
    working_dir: Annotated[
        str | None,
        typer.Option(
            help="Working directory of the job, sent with the code. It holds small files, such as a recipe.",
            metavar="DIRECTORY",
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            help="Set an environment variable of the job. Secrets are refused: everyone who sees the job sees them.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            help="Send this file of --working-dir although it is hidden or holds a key or a password.",
            metavar="NAME",
        ),
    ] = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Print the job's ID instead of following its log.")
    ] = False,
) -> None:
    """Run a bitcipher command as a job on a Ray cluster. The code is sent to the cluster, but no data.

    Follows the log of the job and exits with its exit code. Ctrl-C stops following; the job continues.

    For example: bitcipher submit -- build s3://corpus/*.json.gz --out s3://vectors/c4 --workers 64
    """
    from cluster.cli.main import all_commands
    from cluster.jobs.submit import submit as run

    raise typer.Exit(run(all_commands(), command, address, working_dir, env or [], no_wait, include or []))


def doctor(
    address: Address = None,
    target: Annotated[str | None, typer.Option(help="Directory that builds will be written to.", metavar=PATH)] = None,
    as_json: AsJson = False,
) -> None:
    """Check this machine, a target and a Ray cluster. Suggests fixes, and exits with code 2 on a problem.

    For example: bitcipher doctor --address http://127.0.0.1:8265 --target s3://vectors
    """
    from cluster.cli.display.checks import list_checks, print_checks
    from cluster.cli.display.result import print_result
    from cluster.doctor.checks import has_problem, run_checks

    results = run_checks(address, target)
    print_result({"checks": list_checks(results)}, as_json, lambda: print_checks(results))
    if has_problem(results):
        raise typer.Exit(2)
