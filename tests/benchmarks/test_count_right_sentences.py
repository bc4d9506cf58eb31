"""Counts of predicted answers in the right sentence."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("count_right_sentences.py")
CITIES = [f"City{number} lies near Lake{number}." for number in range(40)]
CONTEXT = " ".join(CITIES)


def test_counts_by_shared_rare_words(tmp_path):
    asked = (("a", "Where is City3?", "Lake3"), ("b", "Where is it?", "Lake4"))
    entries = [
        {"id": name, "question": question, "answers": [{"text": text, "answer_start": CONTEXT.index(f"{text}.")}]}
        for name, question, text in asked
    ]
    content = {"data": [{"title": "", "paragraphs": [{"context": CONTEXT, "qas": entries}]}]}
    (tmp_path / "dev.json").write_text(json.dumps(content))
    for name, words in (("near", ("City3", "City4")), ("far", ("City4", "City5"))):
        (tmp_path / name).mkdir()
        predictions = [
            {"id": entry["id"], "candidates": [{"start": CONTEXT.index(word)}]}
            for entry, word in zip(entries, words, strict=True)
        ]
        (tmp_path / name / "predictions.json").write_text(json.dumps({"predictions": predictions}))
    command = [sys.executable, SCRIPT, tmp_path / "dev.json", tmp_path / "near", tmp_path / "far"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert [line.split("\t") for line in printed.splitlines()[1:]] == [
        ["0", "1", "0", "100", "0"],
        ["1", "1", "100", "100", "0"],
        ["all", "2", "50", "100", "0"],
    ]
