"""Translation of paths in the arguments of a command that runs as a job on a cluster."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitcipher.errors import BitcipherError
from cluster.jobs.setting_paths import check_recipe, translate_reference, translate_setting
from cluster.metavars import BUILD, KIND_AND_PATH, MODEL, NAME_OR_PATH, PATH, SETTING, VERSION_OR_PATH

if TYPE_CHECKING:
    from typer.core import TyperCommand

# For each metavar of path arguments, a function that returns whether a value is a path.
IS_PATH: dict[str, Callable[[str], bool]] = {
    PATH: lambda value: True,
    BUILD: lambda value: True,
    MODEL: lambda value: True,
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

    Paths in settings (`--set`) and references are translated, too. Those in a recipe are checked.

    Raises:
        BitcipherError: if a relative path would refer to another file on the cluster.
        TyperException: if the command does not accept the arguments; Typer prints it.
    """

    def translate(path: str) -> str:
        return translate_path(path, working_dir, is_local)

    values = {parameter: _as_list(value) for parameter, value in _values_of(command, arguments)}
    translated = {path: translate(path) for path in paths_of(command, arguments)}
    settings = [each for parameter, value in values.items() if parameter.metavar == SETTING for each in value]
    translated |= {setting: translate_setting(setting, translate) for setting in settings}
    for parameter, value in values.items():
        if parameter.metavar == KIND_AND_PATH:
            translated |= {reference: translate_reference(reference, translate) for reference in value}
    given = [*(setting.partition("=")[0] for setting in settings), *(str(parameter.name) for parameter in values)]
    for parameter, value in values.items():
        if parameter.name == "recipe":
            for recipe in filter(IS_PATH[NAME_OR_PATH], value):
                check_recipe(recipe, working_dir, given)
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
    paths: list[str] = []
    for parameter, value in _values_of(command, arguments):
        if parameter.metavar in IS_PATH:
            paths.extend(filter(IS_PATH[parameter.metavar], _as_list(value)))
    return paths


def _values_of(command: "TyperCommand", arguments: Sequence[str]) -> "list[tuple[Any, Any]]":
    """Return the parameters of a command that the arguments set, with their values."""
    values = command.make_context(command.name, list(arguments)).params
    return [(each, values[each.name]) for each in command.params if values[each.name]]


def _as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else []


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
