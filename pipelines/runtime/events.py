"""What happens in a job, a line of JSON an event, for whoever collects logs.

Silent unless BITCIPHER_LOG is set to `json`: then events go to stderr, each with the time, its name, and what it is
about (the shard, the attempt, what it took).
"""

import json
import os
import sys
from datetime import UTC, datetime


def log_event(name: str, **fields: object) -> None:
    """Tell of an event."""
    if os.environ.get("BITCIPHER_LOG") == "json":
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        print(json.dumps({"time": time, "event": name, **fields}, ensure_ascii=False), file=sys.stderr, flush=True)
