"""Random mutations of every format that is read: exit code 0 or 2, one sentence, bounded time and memory."""

import io
import random
import resource
import shutil
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import mutations
import pytest
from mutated_formats import FORMATS
from valid_files import ValidFiles

from cluster.cli.main import main
from pipelines.store import lease

MAX_SECONDS = 20
MAX_MIB = 2048
# Maximum number of characters on stderr.
MAX_SENTENCE = 2500


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> ValidFiles:
    return ValidFiles(tmp_path_factory.mktemp("valid"))


@pytest.fixture
def run(monkeypatch):
    """Run a command in this process; return its exit code and stderr."""
    # A command waits so long before it takes over a damaged lease.
    monkeypatch.setattr(lease, "HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr(lease, "EXPIRY_SECONDS", 1.0)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["bitcipher", *map(str, arguments)])
        printed = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(printed), pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code or 0, printed.getvalue()

    return call


def copy_of(original: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = folder / original.name
    shutil.copytree(original, copy) if original.is_dir() else shutil.copy(original, copy)
    return copy


@pytest.mark.parametrize("number", [4, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FORMATS)
def test_mutated_files_are_read_or_refused_in_one_sentence(files, run, tmp_path, print_measurement, name, number):
    state, format = random.Random(name), FORMATS[name]
    original = format.make(files)
    read = refused = longest = 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(number):
        copy, out = copy_of(original, tmp_path / "copy"), tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        paths = sorted(path for path in copy.glob(format.files) if path.is_file()) if copy.is_dir() else [copy]
        path = state.choice(paths)
        mutations.mutate_file(path, state)
        command = state.choice(format.commands(files, copy, out))
        started = time.perf_counter()
        code, printed = run(*command)
        longest = max(longest, time.perf_counter() - started)
        lines = [line for line in printed.splitlines() if line.startswith("bitcipher: ")]
        failure = f"{command[0]} of a mutated {path.name}: {code}, {printed[-2000:]}"
        assert code in (0, 2), failure
        assert "Traceback" not in printed, failure
        assert len(printed) < MAX_SENTENCE, failure
        assert len(lines) >= (code == 2), failure
        read, refused = read + (code == 0), refused + (code == 2)
    added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    assert longest < MAX_SECONDS
    assert added < MAX_MIB
    print_measurement(f"{read} read, {refused} refused, at most {longest:.1f} s and {added} MiB")
