"""Log of events on stderr: lines of text with `--verbose`, or one JSON object per event.

Events are written as JSON if the environment variable BITCIPHER_LOG is `json`. Each event has a time, a name, and
fields such as the shard, the attempt or the cost.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from bitcipher.redaction import redact
from bitcipher.terminal import print_text
from pipelines.runtime.verbosity import Verbosity, current_verbosity


def log_event(name: str, **fields: object) -> None:
    """Write an event. Credentials in the fields are removed."""
    fields = {key: redact(value) if isinstance(value, str) else value for key, value in fields.items()}
    if logs_json():
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        print(json.dumps({"time": time, "event": name, **fields}, ensure_ascii=False), file=sys.stderr, flush=True)
    elif current_verbosity() is Verbosity.VERBOSE:
        print_text(f"{name}: {', '.join(_describe(fields))}", err=True)


def logs_json() -> bool:
    """Return whether stderr holds JSON objects."""
    return os.environ.get("BITCIPHER_LOG") == "json"


def _describe(fields: Mapping[str, object]) -> Iterator[str]:
    for key, value in fields.items():
        if isinstance(value, Mapping):
            yield from _describe(value)
        elif isinstance(value, float):
            yield f"{key.replace('_', ' ')} {value:,.2f}"
        else:
            yield f"{key.replace('_', ' ')} {value:,}" if isinstance(value, int) else f"{key} {value}"
