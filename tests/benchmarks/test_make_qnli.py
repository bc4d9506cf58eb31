"""Training pairs of QNLI that are made from questions of SQuAD."""

import json
import subprocess
import sys
from pathlib import Path

from training.tasks.glue import read_glue

SCRIPT = Path(__file__).with_name("make_qnli.py")
CONTEXT = "The tower is tall.  It was built in 1889 by a firm. The tower was built for a fair."


def test_a_question_gives_the_sentence_with_its_answer_and_the_most_similar_other_one(tmp_path):
    entry = {"id": "1", "question": "When was the tower built?"}
    entry["answers"] = [{"text": "1889", "answer_start": CONTEXT.index("1889")}]
    alone = {"context": "In 1889.", "qas": [entry | {"answers": [{"text": "1889", "answer_start": 3}]}]}
    paragraphs = [{"context": CONTEXT, "qas": [entry]}, alone]
    (tmp_path / "train.json").write_text(json.dumps({"data": [{"title": "", "paragraphs": paragraphs}]}))
    (tmp_path / "dev.tsv").write_text("index\tquestion\tsentence\tlabel\n0\tWho?\tNobody.\tentailment\n")
    command = [sys.executable, SCRIPT, tmp_path / "train.json", tmp_path, "--out", tmp_path / "QNLI"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed == "2 pairs\n"
    task = read_glue("QNLI", str(tmp_path / "QNLI"))
    assert [(row.first, row.second, row.label) for row in task.train] == [
        ("When was the tower built?", "It was built in 1889 by a firm.", 0),
        ("When was the tower built?", "The tower was built for a fair.", 1),
    ]
    assert len(task.validation) == 1
