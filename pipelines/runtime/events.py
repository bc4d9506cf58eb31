"""Structured log: one JSON object per event, on stderr.

Events are written only if the environment variable BITCIPHER_LOG is `json`. Each event has a time, a name, and fields
such as the shard, the attempt or the cost.
"""

import json
import os
import sys
from datetime import UTC, datetime

from bitcipher.redaction import redact


def log_event(name: str, **fields: object) -> None:
    """Write an event. Credentials in the fields are removed."""
    if os.environ.get("BITCIPHER_LOG") == "json":
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        fields = {key: redact(value) if isinstance(value, str) else value for key, value in fields.items()}
        print(json.dumps({"time": time, "event": name, **fields}, ensure_ascii=False), file=sys.stderr, flush=True)
