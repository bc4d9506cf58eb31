"""Options `--verbose` and `--quiet` of commands that run for long."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, TypeVar

import typer

from bitcipher.errors import BitcipherError

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = {
    "verbose": Annotated[
        bool, typer.Option("--verbose", "-v", help="Write each event of the job to stderr, such as a counted shard.")
    ],
    "quiet": Annotated[
        bool, typer.Option("--quiet", "-q", help="Write no progress and no summary, only warnings and errors.")
    ],
}


def with_verbosity(command: Command) -> Command:
    """Give a command the options `--verbose` and `--quiet`. Put it above `record_options`."""

    @wraps(command)
    def call(*, verbose: bool, quiet: bool, **arguments: Any) -> Any:
        if verbose and quiet:
            raise BitcipherError("Give --verbose or --quiet, not both.")
        # Not at the top, because `bitcipher --help` imports this module.
        from cluster.cli.display.console import OUT
        from pipelines.runtime.verbosity import Verbosity, using_verbosity

        OUT.quiet = quiet
        try:
            with using_verbosity(Verbosity.VERBOSE if verbose else Verbosity.QUIET if quiet else Verbosity.NORMAL):
                return command(**arguments)
        finally:
            OUT.quiet = False

    signature = inspect.signature(command)
    own = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in signature.parameters.values()]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
        for name, annotation in _OPTIONS.items()
    ]
    call.__signature__ = signature.replace(parameters=own + added)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in own + added}
    return call  # type: ignore[return-value]
