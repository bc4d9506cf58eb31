"""Command-line options: those that several commands share, and those derived from option records.

`record_options` makes one command-line option from each field of a record, so a field's type, help text and default are
written once, in the record.
"""

import inspect
import types
from collections.abc import Callable, Container, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Metavar, Record, describe_fields
from cluster.metavars import MODEL, PATH, SETTING

if TYPE_CHECKING:
    from bitcipher.table.keys import Oov

Workers = Annotated[
    int,
    typer.Option(
        min=0,
        help="Number of Ray workers; 0 runs in process. Workers run on the cluster of RAY_ADDRESS or of the Ray job if "
        "there is one. Otherwise, Ray starts on this machine.",
    ),
]


def _parse_workers(text: str) -> int | str:
    if text != "auto" and not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is neither auto nor a number of workers.")
    return text if text == "auto" else int(text)


AutoWorkers = Annotated[
    Any,
    typer.Option(
        "--workers",
        parser=_parse_workers,
        help="Number of Ray workers; 0 runs in process. Workers run on the cluster of RAY_ADDRESS or of the Ray job if "
        "there is one. Otherwise, Ray starts on this machine. By default, a small corpus is read in process, and a "
        "larger one by as many workers as there are CPUs and memory for.",
        metavar="auto|INTEGER",
    ),
]
Rehash = Annotated[
    bool,
    typer.Option(
        "--rehash",
        help="Read all files to identify them, also those with the path, size and time of a file that is known.",
    ),
]
UnknownWords = Annotated[
    str | None,
    typer.Option(
        "--oov",
        help="Vectors of unknown words. spelling: from their character n-grams; token: that of <oov>.",
        metavar="spelling|token",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Version = Annotated[int | None, typer.Option(min=1, help="Version of the build.", show_default="newest")]
# Not with Typer's `envvar`, because RAY_ADDRESS can also be the address of Ray's own processes, which takes no jobs.
Address = Annotated[
    str | None,
    typer.Option(
        help="Ray dashboard of the cluster, such as http://127.0.0.1:8265.",
        show_default="RAY_API_SERVER_ADDRESS, or RAY_ADDRESS if it is an HTTP address",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change an option of the recipe, such as loop.max_steps=100.", metavar=SETTING),
]
ModelFolder = Annotated[
    str, typer.Argument(help="Folder of a run, or of a transformers model with a tokenizer.json.", metavar=MODEL)
]
Documents = Annotated[
    list[str],
    typer.Argument(help="Files, directories or globs of text, JSON lines, Parquet or web archives.", metavar=PATH),
]
TrainingText = Annotated[
    list[str], typer.Argument(help="Files, directories or globs of the training text.", metavar=PATH)
]
RunsFolder = Annotated[
    str,
    typer.Option(
        help="Directory of runs, curves and tables, visible to all workers: new, or of an interrupted command.",
        metavar=PATH,
    ),
]
CheckpointStep = Annotated[
    int | None,
    typer.Option(min=0, help="Step of a run's checkpoint.", show_default="the best with early stopping, else the last"),
]
ConcurrentTrials = Annotated[
    int,
    typer.Option(
        min=0,
        help="Number of trials that Ray Tune runs at the same time, one CPU each; 0 runs them one after another in "
        "process. Uses the cluster of RAY_ADDRESS or of the Ray job if there is one.",
    ),
]
GpusPerTrial = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Fraction of a GPU per concurrent trial, such as 0.25; 0 uses no GPU."),
]

Command = TypeVar("Command", bound=Callable[..., Any])


def record_options(record: type[Record], *, only: Container[str] | None = None) -> Callable[[Command], Command]:
    """Return a decorator that gives a command one option per field of a record.

    The command must have a parameter `option_values: dict[str, Any]`: the options that the user gave, by field name.
    Other options are absent, so that a recipe's values or the record's defaults apply.

    Args:
        record: class of the options.
        only: names of the fields to use; all by default.
    """
    fields = {name: field for name, field in record.model_fields.items() if only is None or name in only}
    help_texts = describe_fields(record)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(**arguments: Any) -> Any:
            values = {name: arguments.pop(name) for name in fields}
            option_values = {name: value for name, value in values.items() if value not in (None, [])}
            return command(option_values=option_values, **arguments)

        signature = inspect.signature(command)
        own = [parameter for name, parameter in signature.parameters.items() if name != "option_values"]
        derived = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_option(field, help_texts[name])
            )
            for name, field in fields.items()
        ]
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + derived
        call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {p.name: p.annotation for p in parameters}
        return call  # type: ignore[return-value]

    return decorate


def parse_oov(oov: str | None) -> "Oov":
    """Return the value of `oov` in the library for a value of `--oov`; False without one."""
    values: dict[str | None, Oov] = {None: False, "spelling": "spelling", "token": True}
    if oov not in values:
        raise BitcipherError(f"`--oov` must be spelling or token, got {oov!r}.")
    return values[oov]


def option_name(path: Sequence[str | int]) -> str:
    """Return the command-line option of a field of a record."""
    return "--" + str(path[0]).replace("_", "-") if path else "The command line"


def _option(field: Any, help_text: str) -> Any:
    """Return the Typer annotation of a field of a record."""
    kind = _plain_type(field.annotation)
    metavar = next((each.text for each in field.metadata if isinstance(each, Metavar)), None)
    choices: tuple[str, ...] = ()
    if get_origin(kind) is Literal:  # a string for Typer, since the record's error message is clearer
        kind, choices = str, get_args(kind)
        metavar = "|".join(choices)
    option = typer.Option(
        help=" ".join(help_text.split()),
        show_default=_default(field.default),
        metavar=metavar,
        autocompletion=_complete(choices) if choices else None,
    )
    return Annotated[kind | None, option]


def _complete(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that completes one of several values in a shell."""

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def _plain_type(annotation: Any) -> Any:
    """Return the type of a field without None and validators; str for a union of several types."""
    if get_origin(annotation) in (Union, types.UnionType):
        annotation, *others = (each for each in get_args(annotation) if each is not type(None))
        if others:
            return str
    annotation = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return list[str] if annotation == tuple[str, ...] else annotation


def _default(value: Any) -> str | bool:
    return False if value in (None, ()) else str(value).lower() if isinstance(value, bool) else str(value)
