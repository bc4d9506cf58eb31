"""Commands for clusters: `submit` and `doctor`."""

from typing import Annotated

import typer

from cluster.cli.options import PATH, Address


def submit(
    context: typer.Context,
    command: Annotated[
        list[str], typer.Argument(help="After `--`: a command of bitcipher with its options.", metavar="COMMAND")
    ],
    address: Address = None,
    working_dir: Annotated[
        str | None,
        typer.Option(
            help="A folder of small files to send along, such as a recipe or a tokenizer; the job starts in it.",
            metavar="FOLDER",
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            help="Set a variable of the job's environment. No passwords: who sees the job sees it.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Print the job's name instead of following it.")] = False,
) -> None:
    """Run a command of bitcipher on a Ray cluster, as a Ray job; the code travels, the data does not.

    Follows the job's log, and ends with its exit code. Ctrl-C stops following; the job itself goes on.

    For example: bitcipher submit -- build s3://corpus/*.json.gz --out s3://vectors/c4 --workers 64
    """
    from cluster.jobs.submit import submit as run

    code = run(context.find_root().command.commands, command, address, working_dir, env or [], no_wait)
    raise typer.Exit(code)


def doctor(
    address: Address = None,
    target: Annotated[str | None, typer.Option(help="A folder that builds are to be written to.", metavar=PATH)] = None,
) -> None:
    """Check this machine, a storage target and a Ray cluster, and say what to do; exit code 2 if there is a problem.

    For example: bitcipher doctor --address http://127.0.0.1:8265 --target s3://vectors
    """
    from cluster.doctor.checks import examine

    raise typer.Exit(examine(address, target))
