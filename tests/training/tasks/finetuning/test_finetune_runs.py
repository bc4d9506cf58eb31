"""Fine-tuning runs: determinism, resume, several workers, and initialization with vectors."""

import numpy as np
import pytest
import torch
from finetune_runs import config_of, finetuned, read
from safetensors.torch import load_file
from tiny_runs import Interruption, curve_of, interrupting_after
from tiny_runs import config_of as pretrain_config_of
from tiny_tasks import write_model, write_task
from two_processes import on_two

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.loop.checkpoint_folders import latest_checkpoint
from training.runs.pretraining_run import run_pretraining
from training.tasks.finetuning.finetuning_run import run_finetuning

pytestmark = pytest.mark.usefixtures("one_thread")

SHORT = {"num_train_epochs": None, "loop": {"max_steps": 12, "eval_steps": 4, "save_steps": 4, "logging_steps": 1}}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with a model and the files of two tasks."""
    folder = tmp_path_factory.mktemp("made")
    write_model(folder / "model")
    for task in ("cola", "squad2"):
        write_task(folder / task, task, 40)
    return folder


def run_in(folder, made, task="squad2", **changes):
    return finetuned(folder, made / "model", task, made / task, **(SHORT | changes))


@pytest.fixture(scope="module")
def straight(made, tmp_path_factory):
    """Return the folder of an uninterrupted run."""
    return run_in(tmp_path_factory.mktemp("runs") / "straight", made)


def weights_of(folder):
    return load_file(latest_checkpoint(folder) / "model.safetensors")


def same_weights(one, other):
    assert one.keys() == other.keys()
    return all(torch.equal(one[name], other[name]) for name in one)


def same_runs(one, other):
    return (
        curve_of(one) == curve_of(other)
        and same_weights(weights_of(one), weights_of(other))
        and (one / "predictions.json").read_bytes() == (other / "predictions.json").read_bytes()
    )


def test_fine_tuning_is_deterministic(straight, made, tmp_path):
    assert same_runs(run_in(tmp_path, made), straight)


def test_bfloat16_run_predicts_all_rows(straight, made, tmp_path):
    run_in(tmp_path, made, loop=SHORT["loop"] | {"precision": "bfloat16"})
    found, expected = (read(folder / "predictions.json")["predictions"] for folder in (tmp_path, straight))
    assert [each["id"] for each in found] == [each["id"] for each in expected]
    losses = [
        [line["validation_loss"] for line in curve_of(run) if "validation_loss" in line] for run in (tmp_path, straight)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=0.1)


def test_projected_run_and_random_baseline(made, tiny_text, tmp_path):
    model = {
        "architecture": "roberta",
        "embedding_size": 6,
        "tie_word_embeddings": False,
        "max_position_embeddings": 32,
    }
    loop = {"max_steps": 3, "batch_size": 4, "eval_steps": 3, "save_steps": 3, "eval_sequences": 4}
    run_pretraining(
        pretrain_config_of(tmp_path / "run", tiny_text, model=model, objective={"name": "masked"}, loop=loop)
    )
    source = {name: weight for name, weight in weights_of(tmp_path / "run").items() if name.startswith("roberta.")}
    for random in (False, True):
        folder = tmp_path / f"random-{random}"
        options = SHORT | {"random_init": random, "loop": SHORT["loop"] | {"learning_rate": 1e-9}}
        finetuned(folder, tmp_path / "run", "squad2", made / "squad2", **options)
        ended = weights_of(folder)
        assert read(folder / "predictions.json")["scores"]
        assert len(read(folder / "task.json")["new_weights"]) == (len(ended) if random else 2)
        kept = [torch.allclose(ended[name], weight, atol=1e-6) for name, weight in source.items() if weight.ndim == 2]
        assert all(kept) is not random
        assert ended["roberta.embeddings.word_embeddings.weight"].shape[1] == 6


@pytest.mark.parametrize("last", [1, 3, 4, 5, 9, 11])
def test_resume_is_exact(straight, made, tmp_path, last):
    config = config_of(tmp_path, made / "model", "squad2", made / "squad2", **SHORT)

    with pytest.raises(Interruption):
        run_finetuning(config, interrupting_after(last))
    assert not (tmp_path / "predictions.json").exists()
    run_finetuning(config)
    assert same_runs(tmp_path, straight)


def test_run_interrupted_at_end_gets_predictions(made, tmp_path):
    run_in(tmp_path, made)
    before = {name: (tmp_path / name).read_bytes() for name in ("metrics.jsonl", "predictions.json")}
    (tmp_path / "predictions.json").unlink()
    run_in(tmp_path, made)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


@pytest.mark.long
def test_two_workers_match_one(made, tmp_path):
    """The weights differ by rounding only: gradients are summed in another order."""
    changes = SHORT | {"loop": SHORT["loop"] | {"micro_batch_size": 8}}
    alone = run_in(tmp_path / "alone", made, **changes)
    config = config_of(tmp_path / "shared", made / "model", "squad2", made / "squad2", **changes)
    on_two(run_finetuning, config)
    for one, other in zip(curve_of(tmp_path / "shared"), curve_of(alone), strict=True):
        assert one == pytest.approx(other, rel=1e-4)
    raised, wanted = (read(folder / "predictions.json") for folder in (tmp_path / "shared", alone))
    assert raised["scores"] == pytest.approx(wanted["scores"], rel=1e-4)
    assert [each["answer"] for each in raised["predictions"]] == [each["answer"] for each in wanted["predictions"]]


def test_micro_batch_size_changes_only_rounding(made, tmp_path):
    folder = write_model(tmp_path / "model", dropout=0.0)
    curves = []
    for size in (16, 2):
        changes = SHORT | {"loop": SHORT["loop"] | {"micro_batch_size": size}}
        curves.append(curve_of(finetuned(tmp_path / f"by-{size}", folder, "cola", made / "cola", **changes)))
    for one, other in zip(*curves, strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-4)


def test_epochs_determine_steps(made, tmp_path):
    run = finetuned(tmp_path, made / "model", "cola", made / "cola", num_train_epochs=1.5)
    assert read(run / "task.json")["max_steps"] == 4  # 60 rows in batches of 16
    assert latest_checkpoint(run).name == "00000004"


def test_predictions_of_an_early_stopped_run_are_those_of_its_best_step(made, tmp_path):
    # The learning rate rises until the loss does.
    loop = {"learning_rate": 0.3, "warmup_steps": 12, "eval_steps": 1, "early_stopping_patience": 2}
    for run in (tmp_path, tmp_path):
        run_in(run, made, "cola", loop=SHORT["loop"] | loop)
        evaluations = {line["step"]: line for line in curve_of(run) if "validation_loss" in line}
        last = list(evaluations.values())[-1]
        assert last["stopped_early"]
        assert 0 < last["best_step"] < last["step"] < 12
        scores, best = read(run / "predictions.json")["scores"], evaluations[last["best_step"]]
        assert scores == {name: best[name] for name in scores}
        (run / "predictions.json").unlink()  # as if the first run had been killed before it wrote them


def test_random_baseline_differs_from_start(made, tmp_path):
    losses = []
    for random in (False, True):
        run = run_in(tmp_path / str(random), made, random_init=random)
        losses.append([line["validation_loss"] for line in curve_of(run) if "validation_loss" in line])
        assert (len(read(run / "task.json")["new_weights"]) > 2) is random
    assert losses[0][0] != losses[1][0]


@pytest.fixture(scope="module")
def vectors(made):
    """Return a folder of vectors of the tokenizer's tokens."""
    tokens = sorted(load_tokenizer(str(made / "model" / "tokenizer.json")).get_vocab())
    rows = np.random.default_rng(0).normal(size=(len(tokens), 32)).astype(np.float32)
    CipherVectors(tokens, rows).save(str(made / "vectors"))
    return str(made / "vectors")


TABLE = "roberta.embeddings.word_embeddings.weight"


def test_cipher_init_with_frozen_embeddings(made, vectors, tmp_path):
    options = {"init": "cipher", "vectors": vectors, "scale": 2.0, "freeze_fraction": 1.0}
    run = run_in(tmp_path / "cipher", made, embeddings=options)
    random = run_in(tmp_path / "random", made, embeddings={"freeze_fraction": 1.0})
    source = load_file(made / "model" / "model.safetensors")
    assert torch.equal(weights_of(random)[TABLE], source[TABLE])
    assert not torch.equal(weights_of(run)[TABLE], source[TABLE])
    assert read(run / "embedding_init.json")["n_random"] == 5  # the special tokens
    tokens = load_tokenizer(str(made / "model" / "tokenizer.json")).get_vocab()
    loaded = CipherVectors.load(vectors)
    known = [token for token, number in tokens.items() if number >= 5]
    wanted = np.array([loaded[token] for token in known])
    wanted -= wanted.mean(axis=0)
    spread = float(source[TABLE].square().mean().sqrt()) / np.sqrt(np.square(wanted).mean())
    found = weights_of(run)[TABLE][[tokens[token] for token in known]]
    np.testing.assert_allclose(found, 2 * wanted * spread, atol=1e-6)


def test_train_embeddings_only(made, vectors, tmp_path):
    run = run_in(tmp_path, made, embeddings={"init": "cipher", "vectors": vectors, "train_embeddings_only": True})
    source, trained = load_file(made / "model" / "model.safetensors"), weights_of(run)
    shared = source.keys() & trained.keys()
    assert {name for name in shared if not torch.equal(source[name], trained[name])} == {TABLE}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"task": "snli"}, "`task` must be one of cola, sst2"),
        ({"max_seq_length": 33}, "`max_seq_length` must be at most 32"),
        ({"max_seq_length": 2}, "A length of 2 tokens has no room for text"),
        ({"max_seq_length": 0}, "`max_seq_length` must be at least 1"),
        ({"num_train_epochs": -1}, "`num_train_epochs` must be greater than 0, got -1"),
        ({"model": "nowhere"}, "There is no tokenizer.json in nowhere"),
        ({"data": "nowhere"}, "nowhere/dev.tsv"),
        ({"embeddings": {"init": "cipher"}}, "`embeddings.vectors` is missing"),
        ({"embeddings": {"train_embeddings_only": True, "freeze_fraction": 0.5}}, "exclude each other"),
        ({"loop": {"max_steps": 3}, "num_train_epochs": 2}, "exclude each other"),
        ({"loop": {"stepss": 3}}, "no option `loop.stepss`"),
        ({"loop": {"batch_size": 0}}, "`loop.batch_size` must be at least 1"),
        ({"loop": {"learning_rate": 1e9, "max_grad_norm": 1e9}}, "not finite .NaN.*lower learning rate"),
    ],
)
def test_invalid_fine_tuning_raises(made, tmp_path, changes, sentence):
    with pytest.raises(BitcipherError, match=sentence) as raised:
        finetuned(tmp_path, **{"model": made / "model", "task": "cola", "data": made / "cola"} | changes)
    assert "\n" not in str(raised.value)
