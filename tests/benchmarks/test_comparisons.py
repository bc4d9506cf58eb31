"""All comparisons of run.py on a tiny corpus: they must give figures, whatever these are."""

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import labeled
import numpy as np
import pytest
import stand_ins
import web_pages
from gensim.models.fasttext import FastText, save_facebook_model
from peers import missing_peer
from run import COMPARISONS

from bitcipher.vectors.cipher_vectors import CipherVectors

HERE = Path(__file__).parent

# Text of a corpus with pages of few words, and words of a Zipf distribution, so that there are rare words.
PAGES = 240
RARE_WORDS = 400

TINY = "--runs 1 --window 4 128 --documents 20 --gigabytes 0.004 --long-megabytes 3".split()

# A process has at least the peak memory of the one that it was forked from, and that of pytest is too large for run.py.
FORKED_FROM_SHELL = ["sh", "-c", '"$@"; exit $?', "run"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Folders of texts in two files, of pages with texts, and of the stand-ins."""
    folder = tmp_path_factory.mktemp("corpus")
    draw = random.Random(1)
    for name in ("data", "web", "peers"):
        (folder / name).mkdir()
    lines = []
    for number in range(PAGES):
        rare = " ".join(f"word{int(RARE_WORDS ** draw.random())}" for _ in range(150))
        lines.append(json.dumps({"text": f"{web_pages.page(number)}\n{rare}"}) + "\n")
    for number in range(2):
        (folder / "data" / f"{number}.jsonl").write_text("".join(lines[number::2]))
    (folder / "web" / "texts.jsonl").write_text("".join(lines))
    (folder / "web" / "pages.warc.gz").write_bytes(web_pages.warc(*map(web_pages.page, range(5))))
    stand_ins.write_stand_ins(folder / "peers")
    return folder


def run(corpus, folder, *names):
    """Run comparisons, and return the process and the records of the results."""
    results = folder / "results.jsonl"
    command = [sys.executable, HERE / "run.py", *names, *TINY, "--results", results]
    command += ["--data", corpus / "data", "--web", corpus / "web"]
    command += ["--glove", corpus / "peers", "--datatrove", corpus / "peers" / "datatrove"]
    environment = {**os.environ, "TMPDIR": str(folder), "RAY_USAGE_STATS_ENABLED": "0"}
    # Ray's sockets need short paths.
    environment["RAY_TMPDIR"] = "/tmp"
    process = subprocess.run(
        [*FORKED_FROM_SHELL, *map(str, command)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=HERE.parent.parent,
    )
    return process, [json.loads(line) for line in results.read_text().splitlines()]


# The others take up to minutes.
IN_CI = ("product",)
WITH_RAY = ("ray", "shard-workers")

# Its peer needs accelerate, which no extra installs.
WITHOUT_PEER = {"training"}
TESTED = [name for name in COMPARISONS if name not in WITHOUT_PEER]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[
                pytest.mark.long if name in IN_CI else pytest.mark.slow,
                *([pytest.mark.ray] if name in WITH_RAY else []),
            ],
        )
        for name in TESTED
    ],
)
def test_comparison_gives_figures(corpus, tmp_path, name):
    assert missing_peer(name, argparse.Namespace(glove=True, datatrove=True, web=True)) == ""
    process, (described, outcome) = run(corpus, tmp_path, name)
    assert process.returncode == 0, process.stdout + process.stderr
    assert len(described["commit"]["commit"]) == 40
    assert outcome["figures"]
    for figure in outcome["figures"]:
        assert len(figure["ours"]) == len(figure["theirs"]) == 1
        assert f"| {figure['name']} | " in process.stdout


@pytest.mark.long
def test_spelling_is_measured(tmp_path):
    endings = ("s", "ed", "ing", "er", "able")
    words = [f"{stem}{ending}" for stem in ("walk", "talk", "jump", "laugh", "work", "play") for ending in endings]
    table = np.hstack([np.repeat(np.eye(6), 5, axis=0), np.tile(np.eye(5), (6, 1))])
    counts = np.tile([2000, 200, 50, 20, 6], 6)
    CipherVectors(words, table, counts).save(tmp_path / "vectors")
    files = {
        "pairs.txt": "walks\twalked\t5\nwalks\ttalks\t4\nunwalkable\tjumping\t1\n",
        "analogies.txt": ": verbs\nwalks walked jumps jumped\n",
        "misspelled.tsv": "misspelling\tcorrect\nwallks\twalks\ntalkking\ttalking\nwalks\ttalks\nxyz\tjumps\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    pairs, analogies, misspelled = (tmp_path / name for name in files)
    command = [sys.executable, HERE / "measure_spelling.py", tmp_path / "vectors", "--similarity", pairs]
    peer = FastText([words], vector_size=8, min_count=1, epochs=1, bucket=100, seed=1, workers=1)
    save_facebook_model(peer, str(tmp_path / "peer.bin"))
    command += ["--analogies", analogies, "--misspellings", misspelled, "--peer", tmp_path / "peer.bin"]
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    held_out, shares, lists, examples = (part.splitlines()[2:] for part in process.stdout.strip().split("\n\n"))
    assert [row.split(" | ")[0] for row in held_out] == [
        "| 5 – 9",
        "| 10 – 29",
        "| 30 – 99",
        "| 100 – 999",
        "| from 1000",
    ]
    assert [row.split(" | ")[0] for row in shares] == [f"| {share}" for share in (0, 0.3, 0.4, 0.5, 0.6, 0.8)]
    assert lists[0] == "| bitcipher | misspelled.tsv | 3 | 66.7% | 66.7% |"
    assert lists[1].startswith("| peer | misspelled.tsv | 3 | ")
    assert examples[0].startswith("| wallks | walks | 1 | walks, ")
    assert examples[2] == "| xyz | jumps | 31 |  |"


@pytest.mark.long
def test_spelling_is_compared_with_a_model_of_fasttext(tmp_path):
    words = [f"{stem}{ending}" for stem in ("walk", "talk", "jump", "laugh") for ending in ("s", "ed", "ing")]
    table = np.hstack([np.repeat(np.eye(4), 3, axis=0), np.tile(np.eye(3), (4, 1))])
    CipherVectors(words, table).with_spelling().save(tmp_path / "ours")
    peer = FastText([words], vector_size=8, min_count=1, epochs=1, bucket=100, seed=1, workers=1)
    save_facebook_model(peer, str(tmp_path / "theirs.bin"))
    known = itertools.combinations(range(len(words)), 2)
    pairs = [f"{words[a]}\t{words[b]}\t{5 if a // 3 == b // 3 else 3 if a % 3 == b % 3 else 1}" for a, b in known]
    pairs += ["leaping\ttalking\t4", "walks talks\tjumped\t2"]
    (tmp_path / "pairs.txt").write_text("\n".join(pairs))
    (tmp_path / "analogies.txt").write_text(": verbs\nwalks walked jumps jumped\n")
    request = {
        "vectors": [
            {"method": "spectral", "uri": str(tmp_path / "ours")},
            {"method": "fasttext", "uri": str(tmp_path / "theirs.vec")},
        ],
        "similarity": [str(tmp_path / "pairs.txt")],
        "analogies": [str(tmp_path / "analogies.txt")],
    }
    command = [sys.executable, HERE / "evaluate_spelling.py", json.dumps(request)]
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    result = json.loads(process.stdout)
    ours, theirs = result["vectors"]
    low, high = result["intervals"]["pairs"]
    assert low <= ours["similarity"]["pairs"] - theirs["similarity"]["pairs"] <= high
    assert ours["similarity"]["pairs"] > 70
    assert ours["analogies"]["analogies"] == 100
    assert -100 <= theirs["similarity"]["pairs"] <= 100
    assert ours["covered"]["pairs"] == theirs["covered"]["pairs"] == pytest.approx(100 * 66 / 68)


@pytest.mark.long
def test_vectors_that_exist_are_compared(tmp_path):
    pos, ner = labeled.write_gum(tmp_path / "gum"), labeled.write_conll2003(tmp_path / "conll2003")
    (tmp_path / "pairs.txt").write_text("word1\tword5\t5\nword1\tword2\t1\nword2\tword6\t4\n")
    (tmp_path / "analogies.txt").write_text(": labels\nword1 word2 word5 word6\n")
    labeled.informative_vectors(labeled.TAGS).save(tmp_path / "first")
    labeled.uninformative_vectors().save(tmp_path / "second")
    command = [sys.executable, HERE / "compare_pretrained.py", "--pos", pos, "--ner", ner, "--seeds", "1"]
    command += ["--similarity", "pairs.txt", "--analogies", "analogies.txt"]
    command += ["--vectors", "A table=first", "Another=second"]
    process = subprocess.run([*FORKED_FROM_SHELL, *map(str, command)], capture_output=True, text=True, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("60 words, 1 seeds\n")
    first, second = (line.split(" | ") for line in process.stdout.splitlines()[4:6])
    assert (first[0], second[0]) == ("| A table", "| Another")
    assert float(first[1]) > float(second[1]) + 20


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 3])
def test_scores_are_drawn(tmp_path, count):
    scores = {"pos": {"accuracy": [87.7, 0.1]}, "ner": {"accuracy": [93.0, 0.1]}, "similarity": {"MEN": 73.9}}
    vectors = [
        {"title": f"Vectors {i}", "method": str(i), "is_ours": i == 0, "cpu": 60 * (i + 1), "analogies": 50, **scores}
        for i in range(count)
    ]
    (tmp_path / "scores.json").write_text(json.dumps({"vectors": vectors}))
    picture = tmp_path / "scores.png"
    command = [sys.executable, HERE / "draw_quality.py", tmp_path / "scores.json", picture]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")


IMPORT_ALL = """
import importlib, sys
for name in sys.argv[2:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name.split(".")[0] not in sys.argv[1].split(","):
            raise
"""


@pytest.mark.long
def test_all_scripts_can_be_imported():
    scripts = sorted(path.stem for path in HERE.glob("*.py") if not path.name.startswith("test_"))
    peers = "datatrove,fasttext,gensim,accelerate"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    command = [sys.executable, "-c", IMPORT_ALL, peers, *scripts]
    process = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert process.returncode == 0, process.stderr
