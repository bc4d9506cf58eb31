"""Translation of paths in the arguments of a command that runs as a job on a cluster."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bitcipher.errors import BitcipherError
from cluster.metavars import NAME_OR_PATH, PATH, VERSION_OR_PATH

if TYPE_CHECKING:
    from typer.core import TyperCommand

# For each metavar of path arguments, a function that returns whether a value is a path.
IS_PATH: dict[str, Callable[[str], bool]] = {
    PATH: lambda value: True,
    NAME_OR_PATH: lambda value: value.endswith((".json", ".yaml", ".yml")),
    VERSION_OR_PATH: lambda value: not value.isdecimal(),
}


def translate_paths(
    command: "TyperCommand", arguments: Sequence[str], working_dir: str | None, is_local: bool
) -> list[str]:
    """Return the arguments of a command with its paths translated for the cluster.

    URIs, absolute paths, and relative paths that exist in `working_dir` are not changed: the job starts in a copy of
    this directory. Other relative paths become absolute if the cluster is on this machine.

    Args:
        command: command whose metavars mark the path arguments (see `cluster.metavars`).
        arguments: arguments after the command's name.
        working_dir: directory that is sent with the code, or None.
        is_local: whether the cluster is on this machine.

    Raises:
        BitcipherError: if a relative path would refer to another file on the cluster.
        TyperException: if the command does not accept the arguments; Typer prints it.
    """
    translated = {path: translate_path(path, working_dir, is_local) for path in paths_of(command, arguments)}
    result = []
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if argument in translated:
            result.append(translated[argument])
        elif equals and option.startswith("--") and value in translated:
            result.append(f"{option}={translated[value]}")
        else:
            result.append(argument)
    return result


def paths_of(command: "TyperCommand", arguments: Sequence[str]) -> list[str]:
    """Return the paths and URIs among the arguments of a command."""
    values = command.make_context(command.name, list(arguments)).params
    paths: list[str] = []
    for parameter in command.params:
        value = values[parameter.name]
        if value is not None and parameter.metavar in IS_PATH:
            each = [value] if isinstance(value, str) else value
            paths.extend(filter(IS_PATH[parameter.metavar], each))
    return paths


def translate_path(path: str, working_dir: str | None, is_local: bool) -> str:
    """Return one path or URI, translated for the cluster; see `translate_paths`."""
    if "://" in path or os.path.isabs(path):
        return path
    if working_dir is not None and Path(working_dir, path).exists():
        return path
    if is_local:
        return os.path.abspath(path)
    raise BitcipherError(
        f"{path} is a path on this machine, but the cluster runs elsewhere: give a URI such as s3://bucket/{path}, or "
        "an absolute path that every node sees. Small files can be sent with --working-dir."
    )
