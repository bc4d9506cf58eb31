"""`bitcipher study class-centers compare` on tiny tasks and a tiny model."""

import gzip
import json

import pyarrow.parquet as pq
import pytest
from tiny_tasks import FILLERS, NAMES, write_model, write_task


def write_textclass(folder):
    folder.mkdir()
    for name, number in (("trec_train", 90), ("clinc150_train", 60), ("clinc150_val", 30)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt") as lines:
            for row in range(number):
                text = f"{NAMES[row % 4]} {FILLERS[row % 10]} {FILLERS[row * 7 % 9]}"
                lines.write(json.dumps({"text": text, "label_coarse": NAMES[row % 2], "label_fine": NAMES[row % 4]}))
                lines.write("\n")


@pytest.mark.slow
def test_all_kinds_of_weights_are_compared(tmp_path, run_command):
    model = write_model(tmp_path / "model", "bert", num_hidden_layers=2)
    write_task(tmp_path / "data" / "glue" / "CoLA", "cola", 60)
    write_textclass(tmp_path / "data" / "textclass")
    line = ["study", "class-centers", "compare", model, "--data", tmp_path / "data", "--out", tmp_path / "out"]
    line += ["--task", "cola", "--task", "trec", "--rows", 40, "--epochs", 1, "--shape", "32x1", "--shape", "64x3"]
    printed = []
    for _ in range(2):  # the second call trains nothing
        code, out, errors = run_command(*line)
        assert code == 0, errors
        printed.append(out)
    assert printed[0] == printed[1]
    table = (tmp_path / "out" / "centers.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:] if line]
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


def test_wrong_options_give_one_sentence(tmp_path, run_command):
    model = write_model(tmp_path / "model", "bert", num_hidden_layers=1)
    line = ["study", "class-centers", "compare", model, "--data", tmp_path, "--out", tmp_path / "out"]
    for options, sentence in (
        (["--task", "sst2"], "`--task` must be one of rte, mrpc, cola, trec, clinc150, got 'sst2'"),
        (["--shape", "30x2"], "`--shape` must be a multiple of 32 and a number of layers, as in 64x4, got '30x2'"),
        (["--task", "cola"], "CoLA"),
    ):
        code, out, errors = run_command(*line, *options)
        assert (code, out, errors.count("\n")) == (2, "", 1)
        assert sentence in errors
