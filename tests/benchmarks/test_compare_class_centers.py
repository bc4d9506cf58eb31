"""`compare_class_centers.py` on tiny tasks and a tiny model."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tiny_tasks import FILLERS, NAMES, write_model, write_task

HERE = Path(__file__).parent


def write_textclass(folder):
    folder.mkdir()
    for name, number in (("trec_train", 90), ("clinc150_train", 60), ("clinc150_val", 30)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as lines:
            for row in range(number):
                text = f"{NAMES[row % 4]} {FILLERS[row % 10]} {FILLERS[row * 7 % 9]}"
                lines.write(json.dumps({"text": text, "label_coarse": NAMES[row % 2], "label_fine": NAMES[row % 4]}))
                lines.write("\n")


@pytest.mark.slow
def test_all_ways_are_compared(tmp_path):
    model = write_model(tmp_path / "model", "bert", num_hidden_layers=2)
    write_task(tmp_path / "data" / "glue" / "CoLA", "cola", 60)
    write_textclass(tmp_path / "data" / "textclass")
    command = [sys.executable, HERE / "compare_class_centers.py", model, "--data", tmp_path / "data"]
    command += ["--out", tmp_path / "out", "--tasks", "cola", "trec", "--rows", "40", "--epochs", "1"]
    command += ["--shapes", "32x1", "64x3"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE.parents[1])}
    printed = []
    for _ in range(2):  # the second call trains nothing
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed[0].splitlines()[2:] if line]
    ways = ["pre-trained", "from scratch", "svsl", "random targets", "from scratch, 32x1", "from scratch, 64x3"]
    assert [row[:2] for row in rows] == [[task, way] for task in ("cola", "trec") for way in ways]
    for _, way, _, baseline, train, held_out in rows:
        assert 0 <= float(baseline) <= 60
        assert all(0 <= float(value) <= 1 for value in (*train.split(), *held_out.split()))
        layers = {"from scratch, 32x1": 1, "from scratch, 64x3": 3}.get(way, 2)
        assert len(train.split()) == len(held_out.split()) == 1 + layers
    assert (tmp_path / "out" / "centers.png").exists()
    layers = tmp_path / "out" / "trec-svsl-1" / "layers"
    assert (layers / "layers.png").exists()
    # One epoch of 40 rows is 2 steps of 32 rows at most.
    assert set(pq.read_table(layers / "layers.parquet")["step"].to_pylist()) == {0, 2}
    real, shuffled = ((tmp_path / "out" / "data" / name / "train.tsv").read_text() for name in ("trec", "trec-random"))
    assert real != shuffled
    assert sorted(line.split("\t")[0] for line in real.splitlines()) == sorted(
        line.split("\t")[0] for line in shuffled.splitlines()
    )
