"""Articles of SQuAD 2.0's dev split that become training articles."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

from training.tasks.squad import read_squad

SCRIPT = Path(__file__).with_name("split_squad2.py")


def write_articles(path: Path, titles: str) -> Path:
    """Write a file of articles with one question each, whose text is the title."""
    data = [
        {"title": title, "paragraphs": [{"context": title, "qas": [{"id": title, "question": title, "answers": []}]}]}
        for title in titles
    ]
    path.write_bytes(gzip.compress(json.dumps({"version": "v2.0", "data": data}).encode()))
    return path


def test_a_part_of_the_dev_split_is_moved(tmp_path):
    files = [
        write_articles(tmp_path / f"{name}.gz", titles) for name, titles in (("t", "ab"), ("h", "xz"), ("d", "xyz"))
    ]
    subprocess.run([sys.executable, SCRIPT, *files, "--out", tmp_path / "out"], check=True, capture_output=True)
    moved = {
        name: [question.question for question in read_squad(str(tmp_path / "out" / f"{name}-v2.0.json.gz")).questions]
        for name in ("train", "dev")
    }
    assert moved == {"train": ["a", "b", "x", "z"], "dev": ["y"]}
