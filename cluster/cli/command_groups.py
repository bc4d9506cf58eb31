"""Groups of commands, which import a command only when it is needed.

The help page of a group reads the first sentence of each command's docstring from its source file, so it imports none
of them.
"""

import ast
import difflib
import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer.core import TyperCommand

# The error that Typer raises for wrong arguments. Typer exports only classes that are derived from it.
UsageError: Any = typer.BadParameter.__base__

# Minimum similarity of a command to a misspelled name (`difflib.SequenceMatcher.ratio`).
_SIMILARITY = 0.7


class SuggestingGroup(TyperGroup):
    """Group of commands that answers an unknown command with the nearest one."""

    renamed: ClassVar[Mapping[str, str]] = {}
    """Present name of each command that had another one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return a command and its arguments.

        Raises:
            UsageError: if there is no such command.
        """
        try:
            return super().resolve_command(ctx, args)
        except UsageError as error:
            nearest = self.renamed.get(args[0]) or nearest_command(args[0], self)
            hint = f"; the nearest is `{ctx.command_path} {nearest}`" if nearest else ""
            error.message = f"No such command {args[0]!r}{hint}"
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name.

        Raises:
            UsageError: if its arguments are wrong. The error has the context of this command.
        """
        try:
            return super().invoke(ctx)
        except UsageError as error:
            command: Any = ctx.invoked_subcommand and self.get_command(ctx, ctx.invoked_subcommand)
            if command and error.ctx is None:  # an option without its value
                error.ctx = typer.Context(command, info_name=ctx.invoked_subcommand, parent=ctx)
            raise

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        sentences = {name: _sentence(command.help) for name, command in commands.items() if command}
        _write_commands(formatter, "Commands", sentences)


class LazyGroup(SuggestingGroup):
    """Group of commands whose modules are named, and imported when a command is needed.

    A module defines the function or the group of a command under the name of the command, with underscores.
    """

    modules: ClassVar[Mapping[str, Mapping[str, str]]]
    """Module of each command by the title of its panel on the help page, in order."""

    @property
    def module_of(self) -> dict[str, str]:
        """Module of each command."""
        return {name: module for panel in self.modules.values() for name, module in panel.items()}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands in the order of the help page."""
        return list(self.module_of)

    def get_command(self, ctx: Any, cmd_name: str) -> "TyperCommand | TyperGroup | None":
        """Return a command, or None if no command has this name."""
        module = self.module_of.get(cmd_name)
        return load_command(module, cmd_name) if module else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands without importing them."""
        width = max(map(len, self.module_of))
        for title, panel in self.modules.items():
            sentences = {name: _first_sentence(module, name) for name, module in panel.items()}
            _write_commands(formatter, title, sentences, width)


def group(help_text: str | None, kind: type[SuggestingGroup] = SuggestingGroup) -> typer.Typer:
    """Return a group of commands, which prints its help page without arguments."""
    app = typer.Typer(cls=kind, help=help_text, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
    app.callback()(lambda: None)  # so that a group with one command is a group, too
    return app


@cache
def load_command(module: str, name: str) -> "TyperCommand | TyperGroup":
    """Import a command and return it, each time the same object."""
    definition = getattr(import_module(module), _attribute(name))
    if not isinstance(definition, typer.Typer):
        function, definition = definition, typer.Typer(add_completion=False, rich_markup_mode=None)
        definition.command(name)(function)
    command: Any = typer.main.get_command(definition)
    command.name = name
    return command


def iter_commands(commands: TyperGroup, path: tuple[str, ...] = ()) -> "Iterator[tuple[str, TyperCommand]]":
    """Yield the full name and the definition of each command in a group and in the groups in it. This imports them."""
    context: Any = None
    for name in commands.list_commands(context):
        command: Any = commands.get_command(context, name)
        if isinstance(command, TyperGroup):
            yield from iter_commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def nearest_command(name: str, commands: TyperGroup) -> str | None:
    """Return the full name of the command in a group that is nearest to a misspelled full or last name, or None."""
    context: Any = None
    full_names = [*commands.list_commands(context), *(full_name for full_name, _ in iter_commands(commands))]
    known = {full_name.rpartition(" ")[2]: full_name for full_name in reversed(full_names)}
    known |= {full_name.replace(" ", "-"): full_name for full_name in full_names}
    found = difflib.get_close_matches(name, known, 1, _SIMILARITY)
    return known[found[0]] if found else None


def _attribute(command: str) -> str:
    return command.replace("-", "_")


def _first_sentence(module: str, command: str) -> str:
    """Return the first sentence of a command's docstring, read from source."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return ""
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == _attribute(command):
            return _sentence(ast.get_docstring(node))
    return _sentence(ast.get_docstring(tree))  # a group has its module's docstring


def _sentence(docstring: str | None) -> str:
    text = " ".join(inspect.cleandoc(docstring or "").partition("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".")


def _write_commands(formatter: Any, title: str, sentences: Mapping[str, str], name_width: int = 0) -> None:
    width = formatter.width - 6 - max(name_width, *map(len, sentences))
    with formatter.section(title):
        formatter.write_dl([(name, _shorten(sentence, width)) for name, sentence in sentences.items()])


def _shorten(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rsplit(" ", 1)[0] + "…"
