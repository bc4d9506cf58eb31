"""Files of our packages whose functions run in a piece of work, as a reader must open them.

python tests/files_read.py    # prints the files of a training step, a count task, an explanation and a search
"""

import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGES = tuple(str(ROOT / name) + "/" for name in ("bitcipher", "pipelines", "training", "cluster"))


def noting(files: Counter[str]) -> Callable[[FrameType, str, Any], None]:
    """Return a profile function that adds the calls into each file of our packages."""

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGES) and frame.f_code.co_name != "<module>":
            files[frame.f_code.co_filename.removeprefix(f"{ROOT}/")] += 1

    return note


def trace_files(work: Callable[[], Any]) -> Counter[str]:
    """Call a function, and return the number of calls into each file of our packages, in this thread."""
    files: Counter[str] = Counter()
    before = sys.getprofile()
    sys.setprofile(noting(files))
    try:
        work()
    finally:
        sys.setprofile(before)
    return files


def training_step(folder: Path) -> Counter[str]:
    """Return the files of a step of a small GPT-2 that is not logged: the thread of batches, and the update."""
    import tiny_runs

    from training.loop import training_run
    from training.runs.pretraining_run import run_pretraining

    text = tiny_runs.write_tiny_text(folder / "text")
    config = tiny_runs.config_of(
        folder / "run", text, loop={"max_steps": 3, "eval_steps": 3, "save_steps": 3, "logging_steps": 3}
    )
    files: Counter[str] = Counter()
    trainer: Any = training_run._Trainer
    update = trainer.update

    def traced(self: Any, data: Any) -> None:
        found = trace_files(lambda: update(self, data))
        if self.state.step == 2:
            files.update(found)

    trainer.update = traced
    threading.setprofile(noting(files))
    try:
        run_pretraining(config)
    finally:
        threading.setprofile(None)  # type: ignore[arg-type]
        trainer.update = update
    return files


def count_task(folder: Path) -> Counter[str]:
    """Return the files of the count stage for one source of a build in this process."""
    import builds

    from pipelines.count.count_stage import CountStage
    from pipelines.options import BuildOptions

    source = builds.write_lines(folder / "text.jsonl", ["the cat saw a dog", "a dog saw the cat"] * 20)
    found: list[Counter[str]] = []
    call = CountStage.__call__

    def traced(self: Any, task: Any) -> Any:
        results: list[Any] = []
        found.append(trace_files(lambda: results.extend(call(self, task))))
        return iter(results)

    CountStage.__call__ = traced  # type: ignore[method-assign]
    try:
        builds.run_build([source], folder / "build", BuildOptions(mode="cat", min_count=1, memory_mib=600))
    finally:
        CountStage.__call__ = call  # type: ignore[method-assign]
    return found[0]


def explanation(folder: Path) -> Counter[str]:
    """Return the files that explain the similarity of two words of a build."""
    from bitcipher import open_build

    return trace_files(lambda: open_build(folder / "build").explain("cat", "dog"))


def search(folder: Path) -> Counter[str]:
    """Return the files that find the neighbors of a word."""
    from bitcipher import CipherVectors

    vectors = CipherVectors.load(folder / "build")
    return trace_files(lambda: vectors.most_similar("cat"))


PIECES = {"training step": training_step, "count task": count_task, "explanation": explanation, "search": search}


def main() -> None:
    """Print the files of each piece of work."""
    with tempfile.TemporaryDirectory() as folder:
        for name, piece in PIECES.items():
            files = piece(Path(folder))
            lines = sum(len((ROOT / file).read_text().splitlines()) for file in files)
            print(f"{name}: {len(files)} files, {lines:,} lines")
            for file in sorted(files):
                print(f"    {file}")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
