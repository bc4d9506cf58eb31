"""The `bitcipher` command line: one lazily loaded module per command.

The module of a command, with its imports, is loaded when the command runs. `bitcipher --help` reads the first sentence
of each command's docstring from its source file, so it imports none of them.
"""

import ast
import inspect
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from bitcipher import __version__
from bitcipher.errors import BitcipherError, UnknownWordError, first_line
from bitcipher.terminal import print_text
from cluster.cli.dependencies import explain_missing
from cluster.cli.interrupts import exiting_on_sigterm
from cluster.cli.output_streams import printing_what_is_possible
from pipelines.spacy_import import leave_out_torch

if TYPE_CHECKING:
    from typer.core import TyperCommand

PROGRAM = "bitcipher"
HELP = "Exact, explainable, additive word vectors from text of any size, on a laptop or on Ray."

# Exit code for mistakes that the user can correct, such as wrong arguments.
USER_ERROR = 2

# The error that Typer raises for wrong arguments. Typer exports only classes that are derived from it.
UsageError: Any = typer.BadParameter.__base__

# Module of `cluster.cli.commands` that defines each command, in the order of the help page.
MODULES = {
    "shard": "shard",
    "sample": "shard",
    "build": "build",
    "update": "update",
    "status": "update",
    "prune": "update",
    "embed": "build",
    "neighbors": "inspect_build",
    "explain": "explain",
    "infer": "explain",
    "inspect": "inspect_build",
    "verify": "verify",
    "export": "export",
    "explore": "explore",
    "serve": "serve",
    "evaluate": "evaluate",
    "probe": "evaluate",
    "filter": "filter",
    "choose-tokenizer": "choose_tokenizer",
    "train": "train",
    "cloze-questions": "cloze_questions",
    "finetune": "finetune",
    "compare": "train",
    "layers": "train",
    "generate": "generate",
    "evaluate-lm": "evaluate_lm",
    "align-bytes": "align_bytes",
    "evaluate-prompts": "evaluate_prompts",
    "evaluate-text-pairs": "evaluate_text_pairs",
    "evaluate-sentences": "evaluate_sentences",
    "tune": "tune",
    "sweep": "sweep",
    "reproduce": "reproduce",
    "plan": "plan",
    "submit": "submit",
    "doctor": "submit",
    "demo": "demo",
}


class LazyCommands(TyperGroup):
    """Group of all commands, which imports a command only when it is needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands in the order of the help page."""
        return list(MODULES)

    def get_command(self, ctx: Any, cmd_name: str) -> "TyperCommand | TyperGroup | None":
        """Return a command, or None if no command has this name."""
        return load_command(cmd_name) if cmd_name in MODULES else None

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

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands without importing them."""
        width = formatter.width - 6 - max(map(len, MODULES))
        rows = [(name, _shorten(_first_sentence(name), width)) for name in MODULES]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def load_command(name: str) -> "TyperCommand | TyperGroup":
    """Import a command and return it."""
    definition = getattr(import_module(_module(name)), _attribute(name))
    if not isinstance(definition, typer.Typer):
        function, definition = definition, typer.Typer(add_completion=False, rich_markup_mode=None)
        definition.command(name)(function)
    command: Any = typer.main.get_command(definition)
    command.name = name
    return command


def all_commands() -> "dict[str, TyperCommand | TyperGroup]":
    """Return every command by its name. This imports all of them."""
    return {name: load_command(name) for name in MODULES}


app = typer.Typer(
    name=PROGRAM,
    cls=LazyCommands,
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
    leave_out_torch()
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


def _module(command: str) -> str:
    return f"cluster.cli.commands.{MODULES[command]}"


def _attribute(command: str) -> str:
    return command.replace("-", "_")


def _first_sentence(command: str) -> str:
    """Return the first sentence of a command's docstring, read from source."""
    spec = find_spec(_module(command))
    if spec is None or spec.origin is None:
        return ""
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == _attribute(command):
            return inspect.cleandoc(ast.get_docstring(node) or "").partition(".")[0]
    return (ast.get_docstring(tree) or "").partition(".")[0]  # a group of commands has its module's docstring


def _shorten(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rsplit(" ", 1)[0] + "…"


if __name__ == "__main__":
    main()
