"""The evaluation of sentence embeddings on tiny sets: vectors of ours, a file of vectors, and a fastText model."""

import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from builds import OPTIONS, run_build, write_lines
from gensim.models.fasttext import FastText, save_facebook_model
from sentence_vectors import ENDINGS, STEMS, WORDS, make_vectors

HERE = Path(__file__).parent
LABELED = [(f"the {stem}{ending} {other}", stem) for stem in STEMS[:2] for ending in ENDINGS for other in ("x", "do")]


def write_sets(folder: Path) -> None:
    """Write all sets, of sentences that repeat a stem or do not."""
    pairs = [
        ("walk the", "walked the", 5.0),
        ("talk", "talks do", 4.0),
        ("jump", "paint the", 1.0),
        ("walks", "do", 0.0),
    ]
    for name in ("glue/STS-B", "pairs", "textclass"):
        (folder / name).mkdir(parents=True)
    for name in ("train", "dev"):
        with open(folder / "glue" / "STS-B" / f"{name}.tsv", "w", newline="\n") as stream:
            csv.writer(stream, "excel-tab").writerows([("sentence1", "sentence2", "score"), *pairs])
    rows = {
        f"pairs/sick_{name}": [dict(zip(("s1", "s2", "relatedness"), p, strict=True)) for p in pairs]
        for name in ("train", "dev")
    }
    labeled = [{"text": text, "label_coarse": label, "label_fine": f"{label}:x"} for text, label in LABELED]
    rows |= {f"textclass/{name}": labeled for name in ("trec_train", "clinc150_train", "clinc150_val", "20news_train")}
    for name, lines in rows.items():
        (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))


@pytest.mark.long
def test_sentences_are_evaluated(tmp_path):
    write_sets(tmp_path / "data")
    vectors = make_vectors([*WORDS, "<oov>"])
    vectors.save(tmp_path / "ours")
    vectors.export("word2vec", tmp_path / "peer.vec")
    model = FastText([WORDS], vector_size=8, min_count=1, epochs=1, bucket=100, seed=1, workers=1)
    save_facebook_model(model, str(tmp_path / "peer.bin"))
    lines = write_lines(tmp_path / "text.jsonl", [" ".join(WORDS)] * 3)
    run_build([lines], tmp_path / "build", OPTIONS.derive({"mode": "cat", "bits": 16, "window": 2, "min_count": 1}))
    named = [f"{name}={tmp_path / name}" for name in ("ours", "peer.vec", "peer.bin")]
    command = [sys.executable, HERE / "evaluate_sentences.py", *named, "--data", tmp_path / "data"]
    process = subprocess.run(
        [*map(str, command), "--counts", str(tmp_path / "build")], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    _, _, *rows, empty, speed = process.stdout.strip().splitlines()
    assert [row.split(" | ")[0] for row in rows] == ["| ours", "| peer.vec", "| peer.bin"]
    assert all(len(row.split(" | ")) == 9 for row in rows)
    assert empty == ""
    assert speed.startswith("16 sentences: ")
