"""The `bitcipher` command line: panels of commands, and one sentence for each mistake of a user."""

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn

import typer

from bitcipher import __version__
from bitcipher.errors import BitcipherError, UnknownWordError, first_line
from bitcipher.terminal import print_text
from cluster.cli.command_groups import LazyGroup, UsageError, iter_commands, load_command
from cluster.cli.interrupts import exiting_on_sigterm
from cluster.cli.output_streams import printing_what_is_possible
from pipelines.lean_imports import leave_out_torch_and_pandas

if TYPE_CHECKING:
    from typer.core import TyperCommand, TyperGroup

PROGRAM = "bitcipher"
HELP = "Exact, explainable, additive word vectors from text of any size, on a laptop or on Ray."

# Exit code for mistakes that the user can correct, such as wrong arguments.
USER_ERROR = 2


class AllCommands(LazyGroup):
    """Group of all commands."""

    renamed: ClassVar[dict[str, str]] = {
        "probe": "evaluate --pos",
        "reproduce": "study",
        "filter": "study downscaling filter",
        "align-bytes": "study byte-embeddings align",
        "evaluate-sentences": "study class-centers sentences",
        "evaluate-prompts": "evaluate-lm prompts",
        "evaluate-text-pairs": "evaluate-lm texts",
    }
    modules: ClassVar[dict[str, dict[str, str]]] = {
        "Text": {
            "shard": "cluster.cli.commands.shard",
            "sample": "cluster.cli.commands.shard",
        },
        "Vectors": {
            "build": "cluster.cli.commands.build",
            "update": "cluster.cli.commands.update",
            "embed": "cluster.cli.commands.build",
            "export": "cluster.cli.commands.export",
            "evaluate": "cluster.cli.commands.evaluate",
        },
        "Use": {
            "neighbors": "cluster.cli.commands.inspect_build",
            "explain": "cluster.cli.commands.explain",
            "infer": "cluster.cli.commands.explain",
            "explore": "cluster.cli.commands.explore",
            "serve": "cluster.cli.commands.serve",
            "demo": "cluster.cli.commands.demo",
        },
        "Models": {
            "train": "cluster.cli.commands.train",
            "finetune": "cluster.cli.commands.finetune",
            "tune": "cluster.cli.commands.tune",
            "generate": "cluster.cli.commands.generate",
            "evaluate-lm": "cluster.cli.commands.evaluate_lm",
            "compare": "cluster.cli.commands.train",
        },
        "Studies": {
            "study": "cluster.cli.studies",
            "sweep": "cluster.cli.studies.downscaling",
        },
        "Operations": {
            "status": "cluster.cli.commands.inspect_build",
            "inspect": "cluster.cli.commands.inspect_build",
            "verify": "cluster.cli.commands.verify",
            "prune": "cluster.cli.commands.update",
            "plan": "cluster.cli.commands.plan",
            "submit": "cluster.cli.commands.submit",
            "doctor": "cluster.cli.commands.submit",
        },
    }

    def get_command(self, ctx: Any, cmd_name: str) -> "TyperCommand | TyperGroup | None":
        """Return a command, or None if no command has this name."""
        if cmd_name == "sweep":  # a shortcut, because sweeps are not only of interest to readers of the paper
            downscaling: Any = load_command("cluster.cli.studies.downscaling", "downscaling")
            return downscaling.get_command(ctx, cmd_name)
        return super().get_command(ctx, cmd_name)

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command. If its arguments are wrong, print one sentence and exit with code 2."""
        try:
            result = super().main(*args, standalone_mode=False, **extra)
        except UsageError as error:
            _exit_on_usage_error(error)
        if not standalone_mode:
            return result
        # With `standalone_mode=False`, `typer.Exit` becomes the result.
        sys.exit(result if isinstance(result, int) else 0)


def all_commands() -> "dict[str, TyperCommand]":
    """Return every command by its full name, such as `study bit-cipher tables`. This imports all of them."""
    return dict(iter_commands(load_app()))


def load_app() -> AllCommands:
    """Return the group of all commands."""
    commands: Any = typer.main.get_command(app)
    return commands


app = typer.Typer(
    name=PROGRAM,
    cls=AllCommands,
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def version(show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    """Print the version if `--version` is given."""
    if show_version:
        print_text(f"{PROGRAM} {__version__}")
        raise typer.Exit


def _check_arguments(arguments: Sequence[str]) -> None:
    """Check that names and words can be stored and printed. Python decodes bytes that are not UTF-8 as surrogates.

    Raises:
        BitcipherError: if an argument is not UTF-8.
    """
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise BitcipherError(f"The argument {argument} is not UTF-8: rename the file, or correct it.") from None


def main() -> None:
    """Run the command line. On a user error, print one sentence to stderr and exit with code 2."""
    warnings.showwarning = _print_warning
    leave_out_torch_and_pandas()
    with exiting_on_sigterm(), printing_what_is_possible():
        try:
            _check_arguments(sys.argv[1:])
            app(prog_name=PROGRAM)
        except UnknownWordError as error:
            _exit(error.problem)
        except BitcipherError as error:
            _exit(str(error))
        except MemoryError as error:
            _exit(f"there is not enough memory ({first_line(error)}): use smaller options, or a larger machine.")
        except ModuleNotFoundError as error:
            from cluster.cli.dependencies import explain_missing  # imports the metadata of packages

            sentence = explain_missing(error)
            if sentence is None:
                raise
            _exit(sentence)


def _exit(sentence: str) -> NoReturn:
    print_text(f"{PROGRAM}: {sentence}", err=True)
    sys.exit(USER_ERROR)


def _exit_on_usage_error(error: Any) -> NoReturn:
    """Print what is wrong with the arguments, and where they are explained."""
    problem = error.format_message()
    if "\n" in problem:  # without arguments, it is the help page
        print_text(problem, err=True)
        sys.exit(USER_ERROR)
    command = error.ctx.command_path if error.ctx else PROGRAM
    _exit(f"{problem.rstrip('.')}; see `{command} --help`.")


def _print_warning(message: Warning | str, category: type[Warning], *position: Any) -> None:
    print_text(f"{PROGRAM}: {message}", err=True)


if __name__ == "__main__":
    main()
