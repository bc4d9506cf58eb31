"""`train` that is killed, runs on a full disk, or runs at the same time as another command.

The same command resumes to the same metrics and weights, leaves nothing behind, and keeps the files of the user.
"""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import tiny_commands
from change_faults import CRASHED, crash_at, fill_disk_at
from forked_commands import run_pair
from forked_training import Runs, interrupt_at_step, load_libraries

# Files of the user beside a run, and in a run that was interrupted before.
BESIDE = (
    "thesis.txt",
    "prepared/notes.txt",
    "prepared/.text-mine/notes.txt",
    f"prepared/text-1.{'0' * 32}.tmp/notes.txt",
)
INSIDE = (
    "run/notes.txt",
    "run/checkpoints/notes.txt",
    "run/checkpoints/best.partial/notes.txt",
    "run/ray-mine/notes.txt",
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Runs:
    """The path of the run. Only the latest checkpoint is kept, so that checkpoints are also removed."""
    load_libraries()
    folder = tmp_path_factory.mktemp("interrupted")
    settings = ("loop.save_total_limit=1", "loop.save_steps=2")
    return Runs(folder / "used", tiny_commands.write_corpus(folder / "corpus"), settings)


@pytest.fixture(scope="module")
def interrupted(runs) -> Path:
    """A run with a checkpoint that was interrupted at its fourth step."""
    assert runs.train(interrupt_at_step(4)).code == CRASHED
    return runs.folder.rename(runs.folder.with_name("original"))


@pytest.fixture(scope="module")
def expected(runs, interrupted) -> object:
    """State and names of files of an undisturbed run."""
    runs.restore(Path("nowhere"))
    outcome = runs.train()
    assert outcome.code == 0, outcome.err
    return outcome.result, names(runs)


def names(runs: Runs) -> set[str]:
    """Return the files of the run and of its text, without those that each job adds."""
    paths = (path for path in runs.folder.rglob("*") if path.parent.name not in ("tensorboard", "run-lease"))
    return {str(path.relative_to(runs.folder)) for path in paths if path.is_file()} - {*BESIDE, *INSIDE}


def prepare(runs: Runs, original: Path | None) -> list[Path]:
    """Start from nothing or from a copy of a run, and write the user's files, whose paths are returned."""
    runs.restore(original or Path("nowhere"))
    mine = [runs.folder / name for name in (*BESIDE, *(INSIDE if original else ()))]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    return mine


def count(runs: Runs, original: Path | None, fault: Callable[[int], Callable[[], int]]) -> int:
    """Return the number of changes, or of writes, of an undisturbed command."""
    prepare(runs, original)
    counter: list[Callable[[], int]] = []
    outcome = runs.train(lambda: counter.append(fault(2**60)), lambda: counter[0]())
    assert outcome.code == 0, outcome.err
    return outcome.result


def check_repeated(runs: Runs, expected: object, mine: list[Path]) -> None:
    """Run the command again after a fault, and check the result and the files."""
    outcome = runs.train()
    assert outcome.code == 0, outcome.err
    assert (outcome.result, names(runs)) == expected
    assert [path.read_text() for path in mine] == ["mine"] * len(mine)


@pytest.mark.parametrize("kills", [pytest.param(1, marks=pytest.mark.long), pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("start", ["new", "interrupted"])
def test_killed_training_resumes(runs, interrupted, expected, print_measurement, start, kills):
    original, found = (interrupted if start == "interrupted" else None), Counter()
    changes = count(runs, original, crash_at)
    for number in random.Random(start).sample(range(1, changes + 1), kills):
        mine = prepare(runs, original)
        killed = runs.train(lambda number=number: crash_at(number))
        assert killed.code in (0, CRASHED)  # a heartbeat of the lease is a change, too, so their number varies
        check_repeated(runs, expected, mine)
        found["killed" if killed.code else "not reached"] += 1
    print_measurement(f"{changes} changes, {dict(found)}")


@pytest.mark.parametrize("step", [pytest.param(60, marks=pytest.mark.long), pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("start", ["new", "interrupted"])
def test_full_disk_gives_a_sentence(runs, interrupted, expected, print_measurement, start, step):
    original, found = (interrupted if start == "interrupted" else None), Counter()
    writes = count(runs, original, fill_disk_at)
    for number in range(1, writes + 1, step):
        mine = prepare(runs, original)
        outcome = runs.train(lambda number=number: fill_disk_at(number))
        assert outcome.code == 0 or (outcome.names("disk is full") and "Traceback" not in outcome.err), outcome
        check_repeated(runs, expected, mine)
        found["sentence" if outcome.code else "complete"] += 1
    print_measurement(f"{writes} writes, {dict(found)}")


@pytest.mark.parametrize("number", [pytest.param(3, marks=pytest.mark.long), pytest.param(64, marks=pytest.mark.slow)])
@pytest.mark.parametrize("start", ["new", "interrupted"])
def test_training_with_another_command(runs, interrupted, expected, monkeypatch, print_measurement, start, number):
    monkeypatch.setattr("pipelines.store.lease.HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr("pipelines.store.lease.EXPIRY_SECONDS", 1.0)
    original, found, state = (interrupted if start == "interrupted" else None), Counter(), random.Random(start)
    run = str(runs.folder / "run")
    commands = {
        "train": runs.train_arguments,
        "verify": ["verify", run],
        "compare": ["compare", run, "--out", str(runs.folder.with_name("compared"))],
        "generate": ["generate", run, "--prompt", "the cat", "--max-new-tokens", "4"],
    }
    pairs = [(first, second) for first in commands for second in commands]
    for first, second in state.sample(pairs * 4, number):
        mine = prepare(runs, original)
        for outcome in run_pair(commands[first], commands[second], state.uniform(0, 0.8), state.choice((0, 0.7))):
            assert outcome.code == 0 or outcome.names(""), (first, second, outcome)
            found[outcome.code] += 1
        check_repeated(runs, expected, mine)
    print_measurement(f"16 pairs, exit codes {dict(found)}")
