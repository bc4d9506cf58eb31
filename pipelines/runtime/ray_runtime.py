"""Runtime that executes stages on a pool of Ray actors."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from bitcipher.cores import available_cores
from bitcipher.errors import BitcipherError, first_line
from pipelines.runtime.events import log_event
from pipelines.runtime.ray_cluster import check_nodes, count_workers, ray_cluster
from pipelines.runtime.runtime import In, Out, StageResult, StageSpec
from pipelines.runtime.stage_actor import StageActor

# Number of worker deaths on one input after which the stage fails. Unrelated failures rarely affect the same input this
# often.
ATTEMPTS = 10

# Maximum time to wait until an autoscaling cluster adds the first node that can run an actor.
JOIN_SECONDS = 600
# Interval between two checks of the driver for a node that can run an actor.
POLL_SECONDS = 30
# Time after which an actor without an input is stopped, so that an autoscaling cluster can remove its node.
IDLE_SECONDS = 60


@dataclass
class _Pool:
    """Actors of a runtime by their state."""

    starting: dict[Any, Any] = field(default_factory=dict)
    """Actors whose process has not started, by the reference of their first call."""
    idle: list[tuple[Any, float]] = field(default_factory=list)
    """Actors without an input, with the time since when."""

    def stop(self, actors: Sequence[Any]) -> None:
        """Stop actors."""
        import ray

        for actor in actors:
            ray.kill(actor)

    def stop_starting(self) -> None:
        """Stop the actors whose process has not started."""
        self.stop(list(self.starting.values()))
        self.starting.clear()

    def stop_idle(self, keep: int) -> None:
        """Stop the actors that have been idle for long, except for the `keep` last used."""
        now = time.monotonic()
        stopped = [actor for actor, since in self.idle[: len(self.idle) - keep] if now - since > IDLE_SECONDS]
        self.stop(stopped)
        self.idle = self.idle[len(stopped) :]

    def clear(self) -> None:
        """Stop all actors that have no input."""
        self.stop_starting()
        self.stop([actor for actor, _ in self.idle])
        self.idle.clear()


class RayRuntime:
    """Runs stages on a pool of Ray actors.

    An actor is a worker process. It is created when an input waits for it, and then used for all stages, so that it
    loads its libraries once. An actor that dies is replaced, and its input is processed again. An actor without inputs
    is stopped after a while, but one actor is kept.

    Args:
        workers: maximum number of actors, with one CPU each; None for as many as the cluster has CPUs and memory for.
        memory_bytes: memory that Ray reserves for each actor.
    """

    def __init__(self, workers: int | None, memory_bytes: int):
        self.workers = workers or 0
        self.threads = 1
        self.is_local = False
        self._memory_bytes = memory_bytes
        self._stack = ExitStack()
        self._pool = _Pool()

    def __enter__(self) -> "RayRuntime":
        self.is_local = self._stack.enter_context(ray_cluster(self.workers or available_cores())).is_local
        self.workers = self.workers or count_workers(self._memory_bytes)
        self._stack.callback(self._pool.clear)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def expect_text(self, text_bytes: int) -> None:
        """Do nothing: workers start when a stage begins."""

    def stream(self, spec: StageSpec[In, Out], inputs: Sequence[In]) -> Iterator[StageResult[Out]]:
        """Run a stage over inputs, and yield the results as actors finish."""
        import ray
        from ray.exceptions import RayError, RayTaskError, RuntimeEnvSetupError

        check_nodes(self._memory_bytes, can_join=not self.is_local)
        stored_spec = ray.put(spec)
        waiting = deque((item, 1) for item in inputs)
        running: dict[Any, tuple[Any, tuple[In, int]]] = {}  # actor, and the input with its number of attempts
        failed_starts = 0
        started = time.monotonic()
        try:
            while waiting or running:
                self._start_actors(len(waiting), len(running))
                while waiting and self._pool.idle:
                    (actor, _), work = self._pool.idle.pop(), waiting.popleft()
                    running[actor.run.remote(stored_spec, work[0])] = actor, work
                if not waiting:
                    self._pool.stop_starting()
                done, _ = ray.wait([*running, *self._pool.starting], timeout=POLL_SECONDS)
                self._pool.stop_idle(keep=0 if running else 1)
                if not done:
                    has_time = time.monotonic() - started < JOIN_SECONDS
                    check_nodes(self._memory_bytes, can_join=has_time and not self.is_local)
                    continue
                (ready,) = done
                is_start = ready in self._pool.starting
                actor, work = (self._pool.starting.pop(ready), None) if is_start else running.pop(ready)
                try:
                    outcome = ray.get(ready)
                except RayTaskError:
                    self._pool.idle.append((actor, time.monotonic()))
                    raise
                except RuntimeEnvSetupError as error:
                    raise BitcipherError(f"Ray cannot set up workers for this job: {first_line(error)}.") from None
                except RayError as error:
                    self._pool.stop([actor])  # it can be unreachable instead of dead
                    item, attempt = work or (None, failed_starts + 1)
                    if attempt == ATTEMPTS:
                        when = "on the same input of" if work else "when they started, before"
                        raise BitcipherError(
                            f"{ATTEMPTS} workers died {when} stage {spec.name} ({type(error).__name__}): give workers "
                            "more memory, or look for the cause in Ray's logs."
                        ) from None
                    log_event("worker died", stage=spec.name, input=_name(item), attempt=attempt, error=str(error))
                    if work:
                        waiting.appendleft((work[0], attempt + 1))
                    else:
                        failed_starts = attempt
                    continue
                self._pool.idle.append((actor, time.monotonic()))
                if isinstance(outcome, str):
                    raise BitcipherError(outcome)
                yield from outcome or ()
        finally:
            self._pool.stop([actor for actor, _ in running.values()])
            self._pool.stop_starting()

    def _start_actors(self, waiting: int, running: int) -> None:
        """Start actors for the inputs that wait, up to the maximum number of actors."""
        import ray

        idle, starting = len(self._pool.idle), len(self._pool.starting)
        number = min(waiting - idle, self.workers - running - idle) - starting
        # No restarts and no retries: Ray's own would hide on which input a worker died, and how often.
        make = ray.remote(StageActor).options(num_cpus=1, memory=self._memory_bytes, max_restarts=0, max_task_retries=0)
        for _ in range(number):
            actor = make.remote()
            self._pool.starting[actor.ready.remote()] = actor


def _name(item: object) -> str:
    """Return the name of an input in log events: its `id`, if it has one."""
    return str(getattr(item, "id", ""))
