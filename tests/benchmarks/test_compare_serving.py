"""`compare_serving.py` gives rows without failed requests on tiny tables, and publishes a version under load."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import served_builds
from builds import run_update

SCRIPT = Path(__file__).parent / "compare_serving.py"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("wrk") is None, reason="needs the load generator wrk")
def test_rows_of_both_servers_and_of_a_new_version(tmp_path):
    build = served_builds.write_build(tmp_path)
    run_update(build, [served_builds.write_text(tmp_path / "more.jsonl", 80)])
    options = "--words 300 --dimensions 8 --connections 1 4 --seconds 4 --paths /neighbors /encode --build".split()
    process = subprocess.run([sys.executable, SCRIPT, *options, build], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    rows = [line.strip("| ").split(" | ") for line in process.stdout.splitlines() if line.startswith("| ")][1:]
    assert [row[:4] for row in rows] == [
        ["300", "/neighbors", "bitcipher", "1"],
        ["300", "/neighbors", "bitcipher", "4"],
        ["300", "/encode", "bitcipher", "1"],
        ["300", "/encode", "bitcipher", "4"],
        ["300", "/neighbors", "gensim", "1"],
        ["300", "/neighbors", "gensim", "4"],
        ["300", "/neighbors", "gensim, 1 BLAS thread", "1"],
        ["300", "/neighbors", "gensim, 1 BLAS thread", "4"],
        ["version 1, then 2", "/neighbors", "bitcipher", "4"],
    ]
    assert all(float(row[7]) > 0 for row in rows)
    assert {row[-1] for row in rows} == {"0"}
    assert all(int(row[-2].replace(",", "")) > 10 for row in rows)
