"""F1 at thresholds that were chosen on other articles."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("compare_no_answer_thresholds.py")


def test_threshold_of_each_half_is_used_for_the_other(tmp_path):
    # (id, has an answer, no-answer score): with a threshold of 3, the first article is right, with -3 the second one.
    articles = [
        [("a", True, 2.0), ("b", True, 3.0), ("c", False, 4.0)],
        [("d", True, -3.0), ("e", False, -2.0), ("f", False, -1.0)],
    ]
    data, predictions = [], []
    for article in articles:
        asked = [{"id": name, "answers": [{"text": "lake"}] if has_answer else []} for name, has_answer, _ in article]
        data.append({"paragraphs": [{"context": "a lake", "qas": asked}]})
        predictions += [
            {"id": name, "no_answer_score": at, "candidates": [{"text": "lake"}]} for name, _, at in article
        ]
    (tmp_path / "dev.json.gz").write_bytes(gzip.compress(json.dumps({"data": data}).encode()))
    (tmp_path / "predictions.json").write_text(json.dumps({"predictions": predictions}))
    command = [sys.executable, SCRIPT, tmp_path / "dev.json.gz", tmp_path]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # Best: any threshold from -3 to 3 leaves two wrong. Other half: one of three is right in each half.
    assert printed.splitlines()[1].split("\t")[1:] == ["66.7", "33.3", "33.3"]
