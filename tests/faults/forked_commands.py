"""`bitcipher` commands in forked processes, which can crash or hang without harm to the tests."""

import contextlib
import io
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
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


class ForkedCommand:
    """Command that runs in a forked process.

    Args:
        arguments: arguments of the command.
        result: called in the process after a success; returns a JSON value.
        before: called in the process before the command.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        result: Callable[[], Any] = lambda: None,
        before: Callable[[], object] = lambda: None,
    ):
        self._read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._read)
            signal.alarm(TIMEOUT)
            before()
            content = json.dumps(_run(arguments, result))
            with os.fdopen(write, "w") as stream:
                stream.write(content)
            os._exit(0)
        os.close(write)

    def wait(self) -> Outcome:
        """Wait for the end of the process."""
        with os.fdopen(self._read) as stream:
            content = stream.read()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return Outcome(*json.loads(content)) if content else Outcome(code)


def run_forked(arguments: Sequence[str], result: Callable[[], Any] = lambda: None) -> Outcome:
    """Run a command in a forked process. After a success, `result` is called there; it returns a JSON value."""
    return ForkedCommand(arguments, result).wait()


def run_pair(first: Sequence[str], second: Sequence[str], stop_after: float, wait: float) -> list[Outcome]:
    """Run two commands. The first is stopped, the second starts `wait` seconds later, and when it has ended, the first
    continues. A lease of the first can expire while it is stopped."""
    stopped = ForkedCommand(first)
    time.sleep(stop_after)
    os.kill(stopped.pid, signal.SIGSTOP)
    time.sleep(wait)
    outcome = ForkedCommand(second).wait()
    os.kill(stopped.pid, signal.SIGCONT)
    return [stopped.wait(), outcome]


def _run(arguments: Sequence[str], result: Callable[[], Any]) -> tuple[int, str, str, Any]:
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
