"""`bitcipher` commands in forked processes, which can crash or hang without harm to the tests."""

import contextlib
import io
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cluster.cli.main import main

TIMEOUT = 60


@dataclass(frozen=True)
class Outcome:
    """End of a command: exit code (negative for a signal), output, and what `result` returned."""

    code: int
    out: str = ""
    err: str = ""
    result: Any = None

    @property
    def has_traceback(self) -> bool:
        """Whether the command ended with a traceback instead of a sentence."""
        return self.code == 1 or "Traceback" in self.err

    @property
    def is_crash(self) -> bool:
        """Whether a signal ended the command."""
        return self.code < 0

    def names(self, *names: str) -> bool:
        """Whether the command was refused by one line that contains one of the names."""
        lines = [line for line in self.err.splitlines() if line.startswith("bitcipher: ")]
        return self.code == 2 and len(lines) == 1 and any(name in self.err for name in names)


def run_forked(arguments: list[str], result: Callable[[], Any] = lambda: None) -> Outcome:
    """Run a command in a forked process. After a success, `result` is called there; it returns a JSON value."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(TIMEOUT)
        with os.fdopen(write, "w") as stream:
            json.dump(_run(arguments, result), stream)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        content = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Outcome(-os.WTERMSIG(status))
    return Outcome(*json.loads(content))


def _run(arguments: list[str], result: Callable[[], Any]) -> tuple[int, str, str, Any]:
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["bitcipher", *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        except Exception:
            traceback.print_exc()
            code = 1
    return code, out.getvalue(), err.getvalue(), result() if code == 0 else None
