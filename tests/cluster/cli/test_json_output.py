"""`--json`: one JSON object on stdout, with documented fields, and the exit codes of the tables."""

import json
import re
from pathlib import Path

import labeled
import numpy as np
import pytest
from synthetic_runs import write_run

from bitcipher.vectors.cipher_vectors import CipherVectors

INITS = {"first": "random", "second": "cipher"}
README = Path(__file__).parents[3] / "cluster" / "README.md"


@pytest.fixture
def parsed(run_command):
    """Run a command with `--json`; return the object that it prints, and its exit code."""

    def call(*arguments):
        code, out, err = run_command(*arguments, "--json")
        assert err == ""
        found = json.loads(out)
        assert list(found) == documented_fields(arguments[0])
        return found, code

    return call


def documented_fields(command):
    """Return the fields of a command in the table of the README."""
    (fields,) = re.findall(rf"^\| `{command}` \| (.*?) \|", README.read_text(), re.MULTILINE)
    return re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", fields))


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("text") / "text.txt"
    file.write_text("the cat saw a naïve dog\nthe dog saw the cat\n" * 100)
    return file


@pytest.fixture
def build(run_command, corpus_file, tmp_path):
    options = ("--mode", "cat", "--window", "2", "--bits", "4", "--min-count", "1", "--tokenizer", "whitespace")
    assert run_command("build", corpus_file, "--out", tmp_path / "build", *options).code == 0
    return tmp_path / "build"


def test_status(parsed, build):
    found, code = parsed("status", build)
    assert (code, found["build"], found["job"]) == (0, str(build), None)
    (version,) = found["versions"]
    assert (version["version"], version["tokens"], version["vocabulary"], version["drift"]) == (1, 1100, 7, None)
    next(build.glob("versions/*.json")).write_text("{")
    assert "prune --keep" in parsed("status", build)[0]["versions"][0]["error"]


def test_inspect(parsed, build, tmp_path):
    found, _ = parsed("inspect", build)
    assert (found["kind"], found["words"], found["dimensions"]) == ("build", 7, 16)
    assert found["manifest"]["options"]["tokenizer"] == "whitespace"
    assert found["report"]["stages"]["count"]["cpu_seconds"] > 0
    assert found["files"]["versions/000001.json"] == (build / "versions" / "000001.json").stat().st_size
    CipherVectors.load(build).save(tmp_path / "vectors")
    found, _ = parsed("inspect", tmp_path / "vectors")
    assert (found["kind"], found["words"], found["dimensions"], found["report"]) == ("vectors", 7, 16, None)


def test_neighbors_have_the_values_of_the_library(parsed, build):
    found, _ = parsed("neighbors", build, "naïve", "cat", "--topn", 2)
    vectors = CipherVectors.load(build)
    assert [query["word"] for query in found["queries"]] == ["naïve", "cat"]
    for query in found["queries"]:
        nearest = [(each["word"], each["cosine"]) for each in query["neighbors"]]
        assert nearest == vectors.most_similar(query["word"], topn=2)


def test_evaluate(parsed, tmp_path):
    vectors = labeled.informative_vectors(labeled.TAGS)
    vectors.save(tmp_path / "ours")
    pairs, questions = tmp_path / "pairs.txt", tmp_path / "questions.txt"
    pairs.write_text("\n".join([f"word{i}\tword{i + 1}\t{i}" for i in range(20)] + ["word1\tunicorn\t3"]))
    questions.write_text(": four apart\nword0 word4 word8 word12\n: others\nword0 word1 word2 unicorn\n")
    found, _ = parsed("evaluate", tmp_path / "ours", "--similarity", pairs, "--analogies", questions)
    (score,) = found["similarity"]
    assert score["spearman"] == vectors.evaluate_word_pairs(pairs).spearman
    assert (score["pairs"], score["covered"], score["unknown"]) == (21, 20, ["unicorn"])
    (answers,) = found["analogies"]
    assert [section["covered"] for section in answers["sections"]] == [1, 0]
    assert answers["total"]["accuracy"] == vectors.evaluate_word_analogies(questions).accuracy


def test_probe(parsed, tmp_path):
    labeled.informative_vectors(labeled.TAGS).save(tmp_path / "ours")
    gum = labeled.write_gum(tmp_path / "gum", 20)
    found, _ = parsed("evaluate", tmp_path / "ours", "--pos", gum, "--seeds", 2)
    (probed,) = found["probes"]
    (result,) = probed["results"]
    scores = [seed["accuracy"] for seed in result["seeds"]]
    assert (probed["task"], result["dimensions"], len(scores)) == ("pos", 12, 2)
    assert result["mean"]["accuracy"] == np.mean(scores) > 0.5


def test_plan(parsed, corpus_file):
    found, _ = parsed("plan", corpus_file, "--nodes", 2, "--cores", 4, "--memory-gb", 16)
    assert found["cluster"] == {"nodes": 2, "cores": 4, "memory_bytes": 16e9}
    assert found["costs"]["low"]["entries"] <= found["costs"]["point"]["entries"] <= found["costs"]["high"]["entries"]
    assert found["costs"]["point"]["cpu_seconds"].keys() == {"identify", "count", "merge", "words", "embed"}


def test_doctor(parsed, tmp_path):
    found, code = parsed("doctor", "--target", tmp_path)
    checks = {each["check"]: each for each in found["checks"]}
    assert checks["memory"]["where"] == "this machine"
    assert code == (2 if "problem" in {each["level"] for each in found["checks"]} else 0)


def test_compare(parsed, tmp_path):
    losses = {"first": {0: 3.0, 10: 2.0, 20: 1.0}, "second": {0: 3.0, 10: 1.0, 20: 0.5}}
    runs = [write_run(tmp_path / name, 1, losses[name], {"embeddings": {"init": init}}) for name, init in INITS.items()]
    found, _ = parsed("compare", *runs, "--out", tmp_path / "out")
    first, second = found["groups"]
    assert (first["name"], first["steps_to_first_loss"], first["lead"]) == ("first", first["step"], 1.0)
    assert (first["step"], second["steps_to_first_loss"], second["lead"]) == (20, 10, None)
    assert second["validation_loss"] == 0.5
    assert (tmp_path / "out" / "curves.html").exists()


def test_verify(parsed, build):
    found, code = parsed("verify", build)
    assert (code, found["folder"], found["kind"], found["damage"]) == (0, str(build), "build", [])
    shard = next(build.glob("shards/**/*.parquet"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    found, code = parsed("verify", build)
    assert code == 2
    assert shard.name in found["damage"][0]["sentence"]


def test_errors_are_sentences_on_stderr(run_command, tmp_path):
    code, out, err = run_command("status", tmp_path, "--json")
    assert (code, out, err.count("\n")) == (2, "", 1)
