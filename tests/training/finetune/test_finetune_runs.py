"""Fine-tuning is as exact as pre-training, and can be stopped, shared out and started from vectors."""

import numpy as np
import pytest
import torch
from finetune_runs import config_of, finetuned, read
from safetensors.torch import load_file
from tiny_runs import config_of as pretrain_config_of
from tiny_runs import curve_of
from tiny_tasks import write_model, write_task
from two_processes import on_two

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from training.data import load_tokenizer
from training.finetune import finetune
from training.loop import checkpoint_of
from training.pretrain import pretrain

pytestmark = pytest.mark.usefixtures("one_thread")

SHORT = {"epochs": None, "loop": {"steps": 12, "evaluate_every": 4, "checkpoint_every": 4, "log_every": 1}}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model, and the files of two tasks."""
    folder = tmp_path_factory.mktemp("made")
    write_model(folder / "model")
    for task in ("cola", "squad2"):
        write_task(folder / task, task, 40)
    return folder


def run_in(folder, made, task="squad2", **changes):
    return finetuned(folder, made / "model", task, made / task, **(SHORT | changes))


@pytest.fixture(scope="module")
def straight(made, tmp_path_factory):
    """A run from beginning to end."""
    return run_in(tmp_path_factory.mktemp("runs") / "straight", made)


def weights_of(folder):
    return load_file(checkpoint_of(folder) / "model.safetensors")


def same_weights(one, other):
    assert one.keys() == other.keys()
    return all(torch.equal(one[name], other[name]) for name in one)


def same_runs(one, other):
    return (
        curve_of(one) == curve_of(other)
        and same_weights(weights_of(one), weights_of(other))
        and (one / "predictions.json").read_bytes() == (other / "predictions.json").read_bytes()
    )


def test_the_same_options_give_the_same_run(straight, made, tmp_path):
    assert same_runs(run_in(tmp_path, made), straight)


def test_a_pre_trained_run_of_narrow_rows_and_its_random_twin_are_fine_tuned(made, tiny_text, tmp_path):
    model = {"architecture": "roberta", "embedding": 6, "tied": False, "positions": 32}
    loop = {"steps": 3, "batch": 4, "evaluate_every": 3, "checkpoint_every": 3, "evaluate_sequences": 4}
    pretrain(pretrain_config_of(tmp_path / "run", tiny_text, model=model, objective={"name": "masked"}, loop=loop))
    source = {name: weight for name, weight in weights_of(tmp_path / "run").items() if name.startswith("roberta.")}
    for random in (False, True):
        folder = tmp_path / f"random-{random}"
        options = SHORT | {"random": random, "loop": SHORT["loop"] | {"learning_rate": 1e-9}}
        finetuned(folder, tmp_path / "run", "squad2", made / "squad2", **options)
        ended = weights_of(folder)
        assert read(folder / "predictions.json")["scores"]
        assert len(read(folder / "task.json")["new_weights"]) == (len(ended) if random else 2)
        kept = [torch.allclose(ended[name], weight, atol=1e-6) for name, weight in source.items() if weight.ndim == 2]
        assert all(kept) is not random
        assert ended["roberta.embeddings.word_embeddings.weight"].shape[1] == 6


class PulledPlug(Exception):
    pass


@pytest.mark.parametrize("last", [1, 3, 4, 5, 9, 11])
def test_a_stopped_run_goes_on_to_the_bit(straight, made, tmp_path, last):
    config = config_of(tmp_path, made / "model", "squad2", made / "squad2", **SHORT)

    def pull_plug(step, note):
        if step > last:
            raise PulledPlug

    with pytest.raises(PulledPlug):
        finetune(config, pull_plug)
    assert not (tmp_path / "predictions.json").exists()
    finetune(config)
    assert same_runs(tmp_path, straight)


def test_a_run_that_was_stopped_at_its_end_still_gets_its_predictions(made, tmp_path):
    run_in(tmp_path, made)
    before = {name: (tmp_path / name).read_bytes() for name in ("metrics.jsonl", "predictions.json")}
    (tmp_path / "predictions.json").unlink()
    run_in(tmp_path, made)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


@pytest.mark.long
def test_two_workers_give_the_run_of_one(made, tmp_path):
    """To roundings in the weights: the micro-batch is the same, and sums of gradients have two parts."""
    changes = SHORT | {"loop": SHORT["loop"] | {"micro_batch": 8}}
    alone = run_in(tmp_path / "alone", made, **changes)
    config = config_of(tmp_path / "shared", made / "model", "squad2", made / "squad2", **changes)
    on_two(finetune, config)
    for one, other in zip(curve_of(tmp_path / "shared"), curve_of(alone), strict=True):
        assert one == pytest.approx(other, rel=1e-4)
    told, wanted = (read(folder / "predictions.json") for folder in (tmp_path / "shared", alone))
    assert told["scores"] == pytest.approx(wanted["scores"], rel=1e-4)
    assert [each["answer"] for each in told["predictions"]] == [each["answer"] for each in wanted["predictions"]]


def test_micro_batches_change_nothing_but_roundings(made, tmp_path):
    folder = write_model(tmp_path / "model", dropout=0.0)
    curves = []
    for size in (16, 2):
        changes = SHORT | {"loop": SHORT["loop"] | {"micro_batch": size}}
        curves.append(curve_of(finetuned(tmp_path / f"by-{size}", folder, "cola", made / "cola", **changes)))
    for one, other in zip(*curves, strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-4)


def test_epochs_become_steps(made, tmp_path):
    run = finetuned(tmp_path, made / "model", "cola", made / "cola", epochs=1.5)
    assert read(run / "task.json")["steps"] == 4  # 60 rows in batches of 16
    assert checkpoint_of(run).name == "00000004"


def test_a_random_twin_differs_from_the_start(made, tmp_path):
    losses = []
    for random in (False, True):
        run = run_in(tmp_path / str(random), made, random=random)
        losses.append([line["validation_loss"] for line in curve_of(run) if "validation_loss" in line])
        assert (len(read(run / "task.json")["new_weights"]) > 2) is random
    assert losses[0][0] != losses[1][0]


@pytest.fixture(scope="module")
def vectors(made):
    """Vectors of the tokenizer's tokens."""
    tokens = sorted(load_tokenizer(str(made / "model" / "tokenizer.json")).get_vocab())
    rows = np.random.default_rng(0).normal(size=(len(tokens), 32)).astype(np.float32)
    CipherVectors(tokens, rows).save(str(made / "vectors"))
    return str(made / "vectors")


TABLE = "roberta.embeddings.word_embeddings.weight"


def test_a_table_is_replaced_and_frozen(made, vectors, tmp_path):
    options = {"start": "cipher", "vectors": vectors, "scale": 2.0, "frozen": 1.0}
    run = run_in(tmp_path / "warm", made, embeddings=options)
    cold = run_in(tmp_path / "cold", made, embeddings={"frozen": 1.0})
    source = load_file(made / "model" / "model.safetensors")
    assert torch.equal(weights_of(cold)[TABLE], source[TABLE])
    assert not torch.equal(weights_of(run)[TABLE], source[TABLE])
    assert read(run / "start.json")["cold"] == 5  # the special tokens
    tokens = load_tokenizer(str(made / "model" / "tokenizer.json")).get_vocab()
    loaded = CipherVectors.load(vectors)
    known = [token for token, number in tokens.items() if number >= 5]
    wanted = np.array([loaded[token] for token in known])
    wanted -= wanted.mean(axis=0)
    spread = float(source[TABLE].square().mean().sqrt()) / np.sqrt(np.square(wanted).mean())
    found = weights_of(run)[TABLE][[tokens[token] for token in known]]
    np.testing.assert_allclose(found, 2 * wanted * spread, atol=1e-6)


def test_a_table_can_be_trained_alone(made, vectors, tmp_path):
    run = run_in(tmp_path, made, embeddings={"start": "cipher", "vectors": vectors, "alone": True})
    source, trained = load_file(made / "model" / "model.safetensors"), weights_of(run)
    shared = source.keys() & trained.keys()
    assert {name for name in shared if not torch.equal(source[name], trained[name])} == {TABLE}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"task": "snli"}, "There is no task 'snli': choose one of cola, sst2"),
        ({"length": 33}, "reads rows of 32 tokens at most: set length to that, not to 33"),
        ({"length": 2}, "A length of 2 tokens has no room for text"),
        ({"length": 0}, "must have at least 1 token"),
        ({"epochs": 0}, "more than 0 epochs"),
        ({"model": "nowhere"}, "There is no tokenizer.json in nowhere"),
        ({"data": "nowhere"}, "nowhere/dev.tsv"),
        ({"embeddings": {"start": "cipher"}}, r"give them by --set embeddings\.vectors=FOLDER"),
        ({"embeddings": {"alone": True, "frozen": 0.5}}, "give alone or frozen"),
        ({"loop": {"steps": 3}, "epochs": 2}, "give epochs or loop.steps, not both"),
        ({"loop": {"stepss": 3}}, "option loop.stepss that does not exist"),
        ({"loop": 3}, "gives loop as 3"),
        ({"seed": "x"}, "gives seed as 'x'"),
        ({"loop": {"learning_rate": 1e9, "clip": 1e9}}, "not numbers .NaN.*lower learning rate"),
    ],
)
def test_wrong_options_are_a_plain_sentence(made, tmp_path, changes, sentence):
    with pytest.raises(BitcipherError, match=sentence) as told:
        finetuned(tmp_path, **{"model": made / "model", "task": "cola", "data": made / "cola"} | changes)
    assert "\n" not in str(told.value)
