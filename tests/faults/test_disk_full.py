"""A disk that fills up during an update: the command fails, and the old version stays until a retry succeeds."""

import pytest
from builds import FRESH, digests, run_build, write_lines
from commands import Command, unreferenced_files

from bitcipher.versions import versions

# A test cannot fill the disk. A limit on the file size makes the same write fail.
LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"


@pytest.mark.long
@pytest.mark.parametrize("size", [3_000, *(pytest.param(size, marks=pytest.mark.slow) for size in (30_000, 300_000))])
def test_update_on_a_full_disk_can_be_retried(documents, tmp_path, size):
    files = [write_lines(tmp_path / f"{i}.jsonl", documents[i::4]) for i in range(4)]
    build = tmp_path / "build"
    run_build(files[:3], build)
    run_build(files, tmp_path / "whole")
    before = digests(build)
    full = Command("update", build, *files, *FRESH, log=tmp_path / "full.log", before=LIMIT.format(size=size))
    assert full.wait() == 2
    assert digests(build) == before
    assert versions(str(build)) == [1]
    (sentence,) = full.error_output().splitlines()
    assert sentence.startswith("bitcipher: Cannot write ")
    assert "disk is full" in sentence
    again = Command("update", build, *files, *FRESH, log=tmp_path / "again.log")
    assert again.wait() == 0, again.error_output()
    assert digests(build) == digests(tmp_path / "whole")
    assert digests(build, 1) == before
    assert unreferenced_files(build) == set()
