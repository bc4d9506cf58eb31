"""Runtime that executes stages as Ray Data pipelines, and groups rows by Ray Data's hash shuffle."""

import logging
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from bitcipher.cores import available_cores
from bitcipher.errors import BitcipherError
from pipelines.runtime.grouping import partition_of
from pipelines.runtime.ray_cluster import check_nodes, count_workers, ray_cluster
from pipelines.runtime.ray_runtime import ATTEMPTS, JOIN_SECONDS, POLL_SECONDS
from pipelines.runtime.runtime import In, Out, StageResult, StageSpec
from pipelines.runtime.stage_actor import StageActor

# Column by which Ray Data groups rows.
_PARTITION = "partition"


class RayDataRuntime:
    """Runs stages as Ray Data pipelines, each on a pool of actors.

    A row of a pipeline is the number of an input, so Ray Data schedules inputs, and not rows of text. The result of an
    input does not depend on blocks or on the order of inputs. Ray Data replaces actors that die.

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

    def __enter__(self) -> "RayDataRuntime":
        self.is_local = self._stack.enter_context(ray_cluster(self.workers or available_cores())).is_local
        self.workers = self.workers or count_workers(self._memory_bytes)
        import ray.data

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False  # bitcipher shows its own
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # errors are raised too
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def expect_text(self, text_bytes: int) -> None:
        """Do nothing: workers start when a stage begins."""

    def stream(self, spec: StageSpec[In, Out], inputs: Sequence[In]) -> Iterator[StageResult[Out]]:
        """Run a stage over inputs, and yield the results as actors finish."""
        if not inputs:
            return
        import ray
        import ray.data

        self._wait_for_node()
        attempts: Any = ray.remote(num_cpus=0)(_Attempts).remote()
        rows = _numbers(len(inputs)).map_batches(
            _StageRows,
            fn_constructor_kwargs={"spec": spec, "inputs": ray.put(list(inputs)), "attempts": attempts},
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=min(self.workers, len(inputs))),
            num_cpus=1,
            memory=self._memory_bytes,
        )
        with _translating_errors():
            for row in rows.iter_rows():
                if isinstance(row["outcome"], str):
                    raise BitcipherError(row["outcome"])
                yield from row["outcome"]

    def group(
        self,
        read: StageSpec[In, pa.Table],
        inputs: Sequence[In],
        group: StageSpec[pa.Table, pa.Table],
        partitions: int,
    ) -> Iterator[pa.Table]:
        """Bring rows with equal keys together, and yield the results of each partition."""
        if not inputs:
            return
        import ray

        self._wait_for_node()
        stored = ray.put(list(inputs))

        def run_read(batch: Any) -> Iterator[pa.Table]:
            for table in read.make(**read.arguments)(ray.get(stored)[int(batch["id"][0])]):
                yield table.append_column(_PARTITION, pa.array(partition_of(table["key"].to_numpy(), partitions)))

        def run_group(table: pa.Table) -> pa.Table:
            (result,) = group.make(**group.arguments)(table.drop_columns([_PARTITION]))
            return result

        # Tasks instead of actors, because these stages hold no models, and tasks reuse idle processes.
        numbers = _numbers(len(inputs))
        rows = numbers.map_batches(run_read, batch_size=1, num_cpus=1, memory=self._memory_bytes)
        grouped = rows.groupby(_PARTITION, num_partitions=partitions).map_groups(run_group, batch_format="pyarrow")
        with _translating_errors():
            for batch in grouped.iter_batches(batch_size=None, batch_format="pyarrow"):
                yield pa.table(batch)

    def _wait_for_node(self) -> None:
        """Wait until a node can run an actor. Ray Data itself would wait forever, and report nothing."""
        import ray

        started = time.monotonic()
        calls = []
        while not check_nodes(
            self._memory_bytes, can_join=not self.is_local and time.monotonic() - started < JOIN_SECONDS
        ):
            if not calls:  # a call that waits makes an autoscaling cluster add a node
                calls.append(ray.remote(num_cpus=1, memory=self._memory_bytes)(_do_nothing).remote())
            time.sleep(POLL_SECONDS)


def _do_nothing() -> None:
    """Task that only needs the resources of an actor."""


def _numbers(count: int) -> Any:
    """Return a dataset with the numbers from 0, one per block.

    Not `ray.data.range`, whose tasks would wait forever for a CPU if actors hold all of them.
    """
    import ray.data

    return ray.data.from_items([{"id": number} for number in range(count)], override_num_blocks=count)


class _Attempts:
    """Number of attempts per input of a pipeline. Ray Data repeats an input forever, even if it kills every worker."""

    def __init__(self) -> None:
        self._attempts: Counter[int] = Counter()

    def begin(self, number: int) -> int:
        """Count an attempt, and return the number of attempts."""
        self._attempts[number] += 1
        return self._attempts[number]


class _StageRows:
    """Worker of a pipeline that runs a stage."""

    def __init__(self, spec: StageSpec[Any, Any], inputs: Any, attempts: Any):
        import ray

        self._spec = spec
        self._inputs = ray.get(inputs)
        self._attempts = attempts
        self._actor = StageActor()

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        import ray

        number = int(batch["id"][0])
        outcomes = np.empty(1, object)
        attempt: Any = ray.get(self._attempts.begin.remote(number))
        if attempt > ATTEMPTS:
            outcomes[0] = (
                f"{ATTEMPTS} workers died on the same input of stage {self._spec.name}: give workers more memory, or "
                "look for the cause in Ray's logs."
            )
        else:
            outcomes[0] = self._actor.run(self._spec, self._inputs[number])
        return {"outcome": outcomes}


@contextmanager
def _translating_errors() -> Iterator[None]:
    """Turn errors of a pipeline into `BitcipherError`."""
    from ray.exceptions import UserCodeException

    try:
        yield
    except UserCodeException as error:
        match = re.search(r"BitcipherError: (.*)", str(error))
        if match is None:
            raise
        raise BitcipherError(match[1]) from None
