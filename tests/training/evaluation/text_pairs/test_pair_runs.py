"""Runs on pairs of texts: what they learn, their files, and that they are deterministic and resume."""

import json
from pathlib import Path

import pytest
from safetensors.torch import load_file
from tiny_pairs import recipe_of, tiny_pairs, write_tsv
from tiny_runs import curve_of

from pipelines.runtime.progress import StageProgress
from training.data.text_pairs import TextPair
from training.evaluation.decoding.stored_model import open_model
from training.evaluation.text_pairs.evaluation import evaluate_text_pairs
from training.evaluation.text_pairs.scores import TextPairScores
from training.loop.checkpoint_folders import latest_checkpoint
from training.runs.launch.pretraining import launch_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")

LEARNING = {"max_steps": 150, "eval_steps": 75, "save_steps": 150}


def launch(recipe, folder, prepared):
    return launch_pretraining(recipe, str(folder), str(prepared), 0, StageProgress()).text_pairs


@pytest.fixture(scope="module")
def tsv(tmp_path_factory):
    return write_tsv(tmp_path_factory.mktemp("data") / "pairs.tsv", tiny_pairs())


@pytest.fixture(scope="module")
def learned(tsv, tmp_path_factory, one_thread):
    folder = tmp_path_factory.mktemp("learned")
    return folder, launch(recipe_of(tsv, loop=LEARNING), folder / "run", folder / "prepared")


def test_small_model_translates_words(learned):
    folder, scores = learned
    copy, nearest = scores.baselines["copy of the source"], scores.baselines["target of the nearest training source"]
    assert copy["exact_match"] == 0
    assert nearest["exact_match"] < 50 < 90 < scores.scores["exact_match"]
    assert nearest["chrf"] < 90 < scores.scores["chrf"]
    assert (scores.leaked_pairs, scores.leaked_sources) == (0, 0)
    last = curve_of(folder / "run")[-1]
    # The fraction of targets without a wrong guess is the exact match of greedy search.
    assert 100 * last["sequence_accuracy"] == pytest.approx(scores.scores["exact_match"])
    assert last["token_accuracy"] >= last["sequence_accuracy"]
    assert last["perplexity"] < 2


def test_files_of_a_run(learned):
    folder, scores = learned
    assert TextPairScores.read(str(folder / "run" / "pair_scores.json")) == scores
    lines = [json.loads(line) for line in (folder / "run" / "predictions.jsonl").read_text().splitlines()]
    assert len(lines) == scores.sources == scores.pairs
    targets = dict(tiny_pairs())
    assert all(line["targets"] == [targets[line["source"]]] for line in lines)
    correct = sum(line["prediction"] == targets[line["source"]] for line in lines)
    assert 100 * correct / len(lines) == pytest.approx(scores.scores["exact_match"])


def test_several_targets_and_leaks(learned, tmp_path):
    folder, _ = learned
    model, tokenizer = open_model(str(folder / "run"))
    pairs = [TextPair("two cats", "falsch"), TextPair("two cats", "zwei katzen"), TextPair("dogs see", "hunde sehen")]
    train = [TextPair("two cats", "falsch"), TextPair("birds", "vögel")]
    out = str(tmp_path / "new" / "predictions.jsonl")
    scores = evaluate_text_pairs(model, tokenizer, pairs, train, 16, out, StageProgress())
    assert (scores.pairs, scores.sources, scores.leaked_pairs, scores.leaked_sources) == (3, 2, 1, 2)
    assert scores.scores["exact_match"] == 100
    assert scores.baselines["target of the nearest training source"]["exact_match"] == 50
    assert "Of 3 pairs, 1 are also training pairs, and 2 have the source of one." in scores.markdown()
    assert json.loads(Path(out).read_text().splitlines()[0])["targets"] == ["falsch", "zwei katzen"]
    alone = evaluate_text_pairs(model, tokenizer, pairs[1:], [], 16, None, StageProgress())
    assert list(alone.baselines) == ["copy of the source"]
    assert alone.leaked_pairs is None


def test_runs_are_deterministic_and_resume(tsv, tmp_path):
    recipe = recipe_of(tsv, loop={"save_total_limit": None})
    scores = launch(recipe, tmp_path / "once", tmp_path / "prepared")
    resumed = tmp_path / "resumed"
    launch(recipe, resumed, tmp_path / "other")
    for path in (resumed / "checkpoints" / "00000006").iterdir():
        path.unlink()
    (resumed / "checkpoints" / "00000006").rmdir()
    for name in ("pair_scores.json", "predictions.jsonl"):
        (resumed / name).unlink()
    assert launch(recipe, resumed, tmp_path / "other") == scores
    assert curve_of(resumed) == curve_of(tmp_path / "once")
    weights, again = (load_file(latest_checkpoint(f) / "model.safetensors") for f in (tmp_path / "once", resumed))
    assert all((weights[name] == again[name]).all() for name in weights)
    for name in ("pair_scores.json", "predictions.jsonl"):
        assert (resumed / name).read_bytes() == (tmp_path / "once" / name).read_bytes()


def test_cipher_start_and_pre_trained_start(tsv, tmp_path):
    prepared = tmp_path / "prepared"
    build = {"mode": "sum", "bits": 32, "window": 2}
    launch(recipe_of(tsv, embeddings={"init": "cipher", "build": build}), tmp_path / "cipher", prepared)
    assert json.loads((tmp_path / "cipher" / "embedding_init.json").read_text())["vector_size"] == 32
    continued = recipe_of(tsv, model={"checkpoint": str(tmp_path / "cipher")})
    launch(continued, tmp_path / "continued", prepared)
    end, begin = (curve_of(tmp_path / name)[at]["validation_loss"] for name, at in (("cipher", -1), ("continued", 0)))
    assert begin == pytest.approx(end, rel=1e-6)
