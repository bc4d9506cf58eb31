"""The command `bitcipher`: `bitcipher --help` tells what it can do. Its commands are in `cluster.cli.commands`."""

import signal
import sys
from typing import Annotated

import typer

from bitcipher import __version__
from bitcipher.errors import BitcipherError
from cluster.cli.commands import (
    build,
    choose_tokenizer,
    demo,
    evaluate,
    explain,
    explore,
    export,
    filter,
    finetune,
    generate,
    inspect_build,
    plan,
    reproduce,
    submit,
    sweep,
    train,
    update,
)

app = typer.Typer(
    name="bitcipher",
    help="Exact, explainable, addable word vectors from text of any size, on Ray or on this machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

# In the order in which help shows them.
COMMANDS = (
    build.build,
    update.update,
    update.status,
    update.prune,
    build.embed,
    inspect_build.neighbors,
    explain.explain,
    explain.infer,
    inspect_build.inspect,
    export.export,
    explore.explore,
    evaluate.evaluate,
    evaluate.probe,
    filter.filter,
    choose_tokenizer.choose_tokenizer,
    train.train,
    finetune.finetune,
    train.compare,
    train.layers,
    generate.generate,
    sweep.sweep,
    plan.plan,
    submit.submit,
    submit.doctor,
    demo.demo,
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(reproduce.reproduce, name="reproduce")


@app.callback(invoke_without_command=True)
def version(show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    """Answer `--version`."""
    if show_version:
        print(f"bitcipher {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command; a user's mistake is one sentence on stderr and exit code 2."""
    # A build that is told to end lets go of its lease, and says how it goes on.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        app()
    except BitcipherError as error:
        print(f"bitcipher: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
