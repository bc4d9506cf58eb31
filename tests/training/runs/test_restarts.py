"""Restarts of Ray workers: as long as attempts make progress."""

import pytest

from bitcipher.errors import BitcipherError
from training.runs import workers


@pytest.fixture
def train(monkeypatch, tmp_path):
    """Function that runs attempts, given by kind and step of the latest checkpoint, and returns how many ran."""

    def train(*attempts: tuple[str, int], stop_at: int | None = None) -> int:
        remaining, steps = list(attempts), [0]

        def attempt(values: object, n: int, use_gpu: bool, ray_folder: str, error_file: str):
            kind, steps[0] = remaining.pop(0)
            if len(attempts) - len(remaining) == stop_at:
                (tmp_path / "stop").touch()
            return None if kind == "ends" else workers._Failure(f"the {kind}", kind == "death")

        monkeypatch.setattr(workers, "_attempt", attempt)
        workers._train(print, {}, 2, False, str(tmp_path / "ray"), str(tmp_path / "stop"), lambda: steps[0])
        return len(attempts) - len(remaining)

    return train


def test_failures_are_counted_anew_after_progress(train):
    deaths = [("death", step) for step in (0, 0, 10, 10, 10, 20, 30, 30, 30)]
    assert train(*deaths, ("exception", 40), ("ends", 50)) == len(deaths) + 2


def test_exception_without_progress_is_not_repeated(train):
    with pytest.raises(BitcipherError, match=r"failed once without a new checkpoint after step 0 \(the exception\)"):
        train(("exception", 0))
    with pytest.raises(BitcipherError, match="failed once without a new checkpoint after step 10"):
        train(("exception", 10), ("exception", 10))


def test_three_deaths_without_progress_end_the_run(train):
    with pytest.raises(BitcipherError, match=r"failed 3 times in a row .* after step 10 \(the death\)"):
        train(("death", 10), ("death", 10), ("death", 10), ("death", 10))


def test_cause_of_a_death_is_one_sentence():
    message = (
        "Training failed due to controller error:\nThe actor died unexpectedly before finishing this task.\n"
        "\tclass_name: RayTrainWorker\n\tnode_id='1'\n"
        "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR. Some common causes "
        "include: (1) the OOM killer\n  return method(self)"
    )
    cause = "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR"
    assert workers._cause_of(Exception(message)) == cause
    assert workers._cause_of(Exception("Training failed.\nThe worker group startup timed out.\n")).endswith("timed out")


def test_run_that_was_asked_to_stop_is_not_restarted(train):
    assert train(("death", 10), ("exception", 10), ("ends", 20), stop_at=2) == 2
