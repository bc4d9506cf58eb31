"""Files and folders that a command names, and what their names mean on a cluster."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bitcipher.errors import BitcipherError
from cluster.cli.options import NAME_OR_PATH, PATH, VERSION_OR_PATH

if TYPE_CHECKING:
    from typer.core import TyperCommand

# By how help shows an option: whether a value of it is a place.
IS_PATH: dict[str, Callable[[str], bool]] = {
    PATH: lambda value: True,
    NAME_OR_PATH: lambda value: value.endswith((".json", ".yaml", ".yml")),
    VERSION_OR_PATH: lambda value: not value.isdecimal(),
}


def translate_paths(command: "TyperCommand", arguments: Sequence[str], along: str | None, is_here: bool) -> list[str]:
    """The arguments of a command, with its files and folders named so that they mean the same on the cluster.

    URIs and absolute paths stay as they are, and so do names in the folder that travels along, which the job
    starts in. Other relative paths become absolute if the cluster is on this machine.

    Args:
        command: whose options say which arguments are places (see `cluster.cli.options.PATH`).
        arguments: what comes after the command's name.
        along: the folder that travels along, if there is one.
        is_here: whether the cluster is on this machine.

    Raises:
        BitcipherError: if a relative path would mean another place on the cluster.
        TyperException: if the command does not take these arguments; Typer shows it as it always does.
    """
    renamed = {place: translate_path(place, along, is_here) for place in paths_of(command, arguments)}
    named = []
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if argument in renamed:
            named.append(renamed[argument])
        elif equals and option.startswith("--") and value in renamed:
            named.append(f"{option}={renamed[value]}")
        else:
            named.append(argument)
    return named


def paths_of(command: "TyperCommand", arguments: Sequence[str]) -> list[str]:
    """The files and folders among a command's arguments."""
    values = command.make_context(command.name, list(arguments)).params
    places: list[str] = []
    for parameter in command.params:
        value = values[parameter.name]
        if value is not None and parameter.metavar in IS_PATH:
            each_value = [value] if isinstance(value, str) else value
            places.extend(filter(IS_PATH[parameter.metavar], each_value))
    return places


def translate_path(place: str, along: str | None, is_here: bool) -> str:
    """One file or folder, named so that it means the same on the cluster; see `translate_paths`."""
    if "://" in place or os.path.isabs(place):
        return place
    if along is not None and Path(along, place).exists():
        return place
    if is_here:
        return os.path.abspath(place)
    raise BitcipherError(
        f"{place} is a path of this machine, and the cluster is elsewhere: give a URI such as s3://bucket/{place}, or "
        "an absolute path that every node sees; small files can travel by --working-dir."
    )
