"""Every command that resumes or caches, with every input changed between two calls.

python tests/changed_inputs.py [COMMAND ...]    # prints a table of command, changed input and outcome
"""

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from input_changes import CASES, Case, Change, run, succeed, write_inputs

# What is left out of comparisons: times, leases, and what names the folder.
# Cells are named after digests of their inputs, and old ones stay.
LEFT_OUT = (
    "lease",
    "cells",
    "run.json",
    "finetune.json",
    "inputs.json",
    "report.json",
    "prepared",
    "OUT-",
    ".html",
    ".png",
)
TIMES = ("seconds", "tokens_per_second", "sequences_per_second", "flops_per_second", "utilization", "started", "memory")


class Outcome(NamedTuple):
    """End of the second call."""

    name: str
    """recomputed, unaffected, refused, or a fault: stale, changed files, or a traceback."""
    sentence: str = ""
    """What the command printed."""


FAULTS = ("stale", "wrote before it refused", "traceback")


def outcomes(name: str, inputs: Path, scratch: Path) -> Iterator[tuple[str, Outcome]]:
    """Yield the outcome of a command for each changed input.

    Args:
        name: name of a case.
        inputs: folder from `write_inputs`.
        scratch: folder for copies of the inputs.
    """
    case = CASES[name]
    for changed, change in case.changes.items():
        folder = scratch / hashlib.sha256(f"{name} {changed}".encode()).hexdigest()[:8]
        shutil.copytree(inputs, folder)
        with contextlib.chdir(folder):
            yield changed, _outcome(case, change, folder)
        shutil.rmtree(folder)


def _outcome(case: Case, change: Change, folder: Path) -> Outcome:
    for command in case.before:
        succeed(command)
    if case.is_interrupted:
        with (
            mock.patch("training.loop.training_run.save_checkpoint", _interrupt),
            mock.patch("pipelines.builds.make_version._publish", _interrupt),
        ):
            assert run(case.command)[0] == 130
        printed = ""
    else:
        printed = succeed(case.command)
    before, files = results(folder, printed), content_of(folder / "OUT")
    change(folder)
    code, printed, error = run(case.command)
    sentence = printed.strip().splitlines()[-1] if printed.strip() else ""
    if error is not None:
        return Outcome("traceback", repr(error))
    if code:
        written = content_of(folder / "OUT") != files
        return Outcome("wrote before it refused" if written else "refused", sentence)
    after = results(folder, printed)
    shutil.rmtree(folder / "OUT", ignore_errors=True)
    shutil.rmtree(folder / "OUT-prepared", ignore_errors=True)
    for command in case.before:
        if "OUT" in command:
            succeed(command)
    fresh = results(folder, succeed(case.command))
    if after != fresh:
        differing = sorted(name for name in {**after, **fresh} if after.get(name) != fresh.get(name))
        return Outcome("stale", ", ".join(differing)[:200])
    return Outcome("unaffected" if after == before else "recomputed", sentence)


def _interrupt(*arguments: object) -> None:
    raise KeyboardInterrupt


def content_of(folder: Path) -> dict[str, str]:
    """Return the digest of each file below a folder, except for leases."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "lease" not in str(path)
    }


def results(folder: Path, printed: str) -> dict[str, str]:
    """Return the results of a command: digests of files of its target without times, and its output without them."""
    out = folder / "OUT"
    if not out.exists():
        return {"output": printed}
    if list((out / "versions").glob("*.json")):
        from pipelines.store.manifest import read_manifest

        return {"digests": str(read_manifest(str(out)).digests)}
    if (out / "documents").is_dir():
        import pyarrow.parquet as pq

        texts = [
            text for file in (out / "documents").glob("*.parquet") for text in pq.read_table(file)["text"].to_pylist()
        ]
        return {"documents": str(sorted(texts))}
    return {
        str(path.relative_to(out)): _digest_without_times(path)
        for path in sorted(out.rglob("*"))
        if path.is_file() and not any(each in str(path.relative_to(out)) for each in LEFT_OUT)
    }


def _digest_without_times(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".jsonl" and path.name == "metrics.jsonl":
        lines = [json.loads(line) for line in content.splitlines()]
        kept = [{name: line[name] for name in sorted(line) if not any(t in name for t in TIMES)} for line in lines]
        content = json.dumps(kept).encode()
    elif path.name in ("files.json", "state.json", "study.json", "page.html", "findings.json", "trials.json"):
        content = b""  # has times, or digests of what has times
    return hashlib.sha256(content).hexdigest()


def main() -> None:
    """Print the table of the given commands, or of all; exit with 1 if a result is stale."""
    parser = argparse.ArgumentParser(description="Print what becomes of each command whose inputs have changed.")
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=f"default: all; any of {'; '.join(CASES)}")
    chosen = parser.parse_args().commands
    if unknown := set(chosen) - set(CASES):
        parser.error(f"no such command: {', '.join(sorted(unknown))}")
    sys.path.insert(0, str(Path(__file__).parents[1]))  # `tests/bitcipher` would hide the package
    faults = 0
    with tempfile.TemporaryDirectory() as temporary:
        inputs, scratch = Path(temporary, "inputs"), Path(temporary, "scratch")
        inputs.mkdir()
        scratch.mkdir()
        write_inputs(inputs)
        for name in chosen or CASES:
            for changed, outcome in outcomes(name, inputs, scratch):
                faults += outcome.name in FAULTS
                sentence = outcome.sentence.replace(os.path.realpath(temporary), "")
                print(f"{name:<32} {changed:<18} {outcome.name:<12} {sentence}", flush=True)
    print(f"{faults} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
