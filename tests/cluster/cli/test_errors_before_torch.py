"""Wrong names and paths are reported before torch is loaded, which takes seconds of CPU time."""

import json
import subprocess
import sys

import pytest

from bitcipher.lazy_names import lazy_names

COMMANDS = {
    "train nosuch --out run": "There is no recipe 'nosuch'",
    "train nosuch.yaml --out run": "There is no file nosuch.yaml",
    "train figure-4-random --out run --set objective.name=none": "`objective.name` must be one of masked",
    "train figure-4-random --out run --set model.architecture=none": "`model.architecture` must be",
    "train figure-4-random --out run --set text.sources=[none]": "Cannot use none",
    "train figure-4-random --out run --set model.checkpoint=none": "There is no tokenizer.json in",
    "train figure-4-random --out memory://run": "memory://run has no folder next to it",
    "finetune none --task nosuch --data . --out run": "`task` must be one of cola",
    "finetune none --task cola --data none --out run": "There is no folder ",
    "finetune none --task cola --data . --out run": "There is no tokenizer.json in ",
    "sweep nosuch --out run": "There is no study 'nosuch'",
    "sweep downscaling-small --out run --set shapes.names=[x]": "is not a shape",
    "tune nosuch --out run --search loop.batch_size=[8] --budget 9steps": "There is no recipe 'nosuch'",
    "tune masked --out run --search loop.spam=[8] --budget 9steps": "there is no option `loop.spam`",
    "generate none --prompt a": "There is no model in none",
    "generate none --prompts none.yaml": "There is no file none.yaml",
    "evaluate-lm pairs none none.jsonl": "none.jsonl",
    "evaluate-lm prompts none none.tsv --template nosuch": "There is no prompt template 'nosuch'",
    "evaluate-lm prompts none none.tsv --template trec": "Cannot use none.tsv",
    "evaluate-lm texts none none.tsv": "Cannot use none.tsv",
    "study class-centers sentences none none.tsv --out out": "Cannot use none.tsv",
    "train text-pairs --out run --set text.sources=[none.tsv]": "Cannot use none.tsv",
    "study downscaling laws none.csv --out fits": "none.csv is not a CSV file that can be read",
    "study class-centers layers none --out layers": "none is not a run with a checkpoint",
    "compare none --out comparison": "none is not a run",
    "study bit-cipher figure-4 none --out run": "Cannot use none",
    "study bit-cipher figure-5 none --pretraining none --out run": "Cannot use none",
    "study bit-cipher tables none --pos none --out tables": "none must contain exactly one file",
    "evaluate none --pos none": "none must contain exactly one file",
}

PROGRAM = """
import json, sys
from cluster.cli.main import main
loaded = []
for command in json.load(sys.stdin):
    sys.argv = ["bitcipher", *command.split()]
    try:
        main()
    except SystemExit as stopped:
        loaded.append([stopped.code, "torch" in sys.modules or "transformers" in sys.modules])
    sys.stderr.write("\\0")
print(json.dumps(loaded))
"""


def test_names_and_paths_are_checked_before_torch_is_loaded(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        input=json.dumps(list(COMMANDS)),
        capture_output=True,
        text=True,
        check=True,
    )
    errors = ran.stderr.split("\0")[:-1]
    results = dict(zip(COMMANDS, zip(json.loads(ran.stdout), errors, strict=True), strict=True))
    for command, ((code, is_loaded), error) in results.items():
        assert code == 2, (command, error)
        assert COMMANDS[command] in error, command
        assert not is_loaded, command


def test_lazy_names_are_those_of_the_modules():
    get = lazy_names("bitcipher", {"bitcipher.errors": ["BitcipherError"]})
    assert get("BitcipherError").__module__ == "bitcipher.errors"
    with pytest.raises(AttributeError, match="module 'bitcipher' has no attribute 'other'"):
        get("other")
