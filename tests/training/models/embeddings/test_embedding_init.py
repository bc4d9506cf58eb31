import copy
import json

import numpy as np
import pytest
import torch
from tiny_runs import config_of, curve_of

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.token_streams import TokenDataset
from training.loop.checkpoint_folders import latest_checkpoint
from training.loop.optimizer import FreezeSchedule
from training.models.build import build_model
from training.models.checkpoint import load_model
from training.models.embeddings.embedding_table import token_embeddings
from training.models.embeddings.initialize import init_embeddings, scale_embeddings
from training.models.embeddings.options import EmbeddingInitOptions
from training.models.options import ModelOptions
from training.models.parts import input_embeddings, is_tied, logits, output_bias
from training.runs.pretraining_run import make_training_run, run_pretraining
from training.runs.recipe import Recipe

pytestmark = pytest.mark.usefixtures("one_thread")
ARCHITECTURES = ("bert", "roberta", "modernbert", "deberta", "gpt2", "opt", "t5")


@pytest.fixture(scope="module")
def tokenizer(tiny_text):
    return TokenDataset.open(str(tiny_text)).tokenizer


@pytest.fixture(scope="module")
def vectors(tokenizer, tmp_path_factory):
    """Return a folder of vectors for all tokens except the special ones, wider than the models."""
    words = [tokenizer.id_to_token(token) for token in range(5, vocab_size(tokenizer))]
    rows = np.random.default_rng(0).normal(size=(len(words), 24)) + 3
    folder = tmp_path_factory.mktemp("start") / "vectors"
    CipherVectors(words, rows, counts=np.arange(len(words), 0, -1)).save(folder)
    return folder


def model_of(architecture, tokenizer, tied, **changed):
    options = ModelOptions(
        architecture=architecture,
        num_hidden_layers=1,
        hidden_size=16,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
        tie_word_embeddings=tied,
        **changed,
    )
    return build_model(options, special_tokens(tokenizer), vocab_size(tokenizer), seed=1)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("tied", [True, False])
def test_init_changes_only_rows_with_vectors(architecture, tied, tokenizer, vectors):
    random = model_of(architecture, tokenizer, tied)
    cipher = copy.deepcopy(random)
    table = token_embeddings(CipherVectors.load(vectors), tokenizer)
    installed = init_embeddings(cipher, table, EmbeddingInitOptions(init="cipher"))
    before, after = (input_embeddings(model).weight.detach() for model in (random, cipher))
    assert torch.equal(before[~table.has_vector], after[~table.has_vector])
    assert not (before[table.has_vector] == after[table.has_vector]).any()
    assert (installed.n_from_vectors, installed.n_random) == (len(before) - 5, 5)
    assert is_tied(cipher) == tied
    others = dict(random.named_parameters())
    tables = {id(input_embeddings(cipher).weight)}
    for name, weight in cipher.named_parameters():
        assert id(weight) in tables or torch.equal(weight, others[name]), name
    if tied:
        hidden = torch.ones(1, 16)
        assert not torch.equal(logits(cipher, hidden), logits(random, hidden))


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_scale(scale, tokenizer, vectors):
    model = model_of("gpt2", tokenizer, True)
    own = float(input_embeddings(model).weight.detach().square().mean().sqrt())
    table = token_embeddings(CipherVectors.load(vectors), tokenizer)
    init_embeddings(model, table, EmbeddingInitOptions(init="cipher", scale=scale))
    rows = input_embeddings(model).weight.detach()[table.has_vector]
    assert float(rows.square().mean().sqrt()) == pytest.approx(scale * own, rel=1e-4)
    torch.testing.assert_close(rows.mean(dim=0), torch.zeros(16), atol=1e-6, rtol=0)


def test_output_bias_has_log_frequencies(tokenizer, vectors):
    model = model_of("roberta", tokenizer, True)
    table = token_embeddings(CipherVectors.load(vectors), tokenizer)
    init_embeddings(model, table, EmbeddingInitOptions(init="cipher", output_bias=True))
    shares = torch.softmax(output_bias(model).detach(), 0).numpy()
    np.testing.assert_allclose(shares, (table.counts + 1) / (table.counts + 1).sum(), rtol=1e-4)


@pytest.mark.parametrize("width", [6, 24, 40])
def test_init_of_narrow_embeddings(width, tokenizer, vectors):
    model = model_of("roberta", tokenizer, False, embedding_size=width)
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    table = token_embeddings(CipherVectors.load(vectors), tokenizer)
    installed = init_embeddings(model, table, EmbeddingInitOptions(init="cipher"))
    (changed,) = (name for name, weight in model.named_parameters() if not torch.equal(weight, before[name]))
    rows = input_embeddings(model).weight.detach()[torch.from_numpy(table.has_vector)]
    assert changed == "roberta.embeddings.word_embeddings.weight"
    assert (rows.shape[1], installed.vector_size) == (width, 24)
    if width == 24:
        centered = torch.from_numpy(table.rows[table.has_vector] - table.rows[table.has_vector].mean(axis=0))
        torch.testing.assert_close(rows / rows.std(), centered / centered.std())
    scale_embeddings(model, 2.0)
    torch.testing.assert_close(input_embeddings(model).weight.detach()[torch.from_numpy(table.has_vector)], 2 * rows)


def test_inits_differ_in_embeddings_only(tiny_text, vectors, tmp_path):
    jobs = []
    for name, given, start in (
        ("random", None, {}),
        ("cipher", str(vectors), {"init": "cipher", "freeze_fraction": 0.5}),
    ):
        recipe = Recipe.parse(config_of(tmp_path / name, tiny_text, embeddings=start)["recipe"], "test")
        jobs.append(make_training_run(recipe, TokenDataset.open(str(tiny_text)), given, tmp_path / name))
    random, cipher = jobs
    for (name, one), other in zip(random.model.named_parameters(), cipher.model.parameters(), strict=True):
        assert torch.equal(one, other) == (one is not input_embeddings(random.model).weight), name
    for positions in (np.arange(5), np.array([700, 3])):
        for name, array in random.examples.training_batch(positions).items():
            np.testing.assert_array_equal(array, cipher.examples.training_batch(positions)[name])


def test_scale_of_random_init(tiny_text, tmp_path):
    tables = []
    for scale in (1, 3):
        recipe = Recipe.parse(
            config_of(tmp_path / str(scale), tiny_text, embeddings={"scale": scale})["recipe"], "test"
        )
        job = make_training_run(recipe, TokenDataset.open(str(tiny_text)), None, tmp_path / str(scale))
        tables.append(input_embeddings(job.model).weight.detach())
    assert torch.equal(tables[1], 3 * tables[0])


@pytest.mark.parametrize("tied", [True, False])
def test_frozen_embeddings_do_not_change(tied, tiny_text, vectors, tmp_path):
    start = {"init": "cipher", "freeze_fraction": 0.5}
    config = config_of(tmp_path / "run", tiny_text, vectors, embeddings=start, model={"tie_word_embeddings": tied})
    run_pretraining(config)
    tables = [
        input_embeddings(load_model(str(tmp_path / "run" / "checkpoints" / f"{step:08d}"))).weight.detach()
        for step in (4, 8, 12)
    ]
    first = make_training_run(
        Recipe.parse(config["recipe"], "test"), TokenDataset.open(str(tiny_text)), str(vectors), tmp_path / "run"
    )
    assert torch.equal(tables[0], input_embeddings(first.model).weight.detach())
    assert not torch.equal(tables[0], tables[1])  # unfrozen at step 6
    assert not torch.equal(tables[1], tables[2])
    assert json.loads((tmp_path / "run" / "embedding_init.json").read_text())["n_from_vectors"] == len(tables[0]) - 5


def test_unfreeze_at_plateau(tiny_text, vectors, tmp_path):
    # The loss never falls by 90 %, so the second evaluation unfreezes.
    start = {"init": "cipher", "freeze_fraction": 1.0, "unfreeze": "plateau", "plateau_threshold": 0.9}
    run_pretraining(config_of(tmp_path / "run", tiny_text, vectors, embeddings=start))
    state = json.loads((latest_checkpoint(tmp_path / "run") / "state.json").read_text())
    assert state["unfrozen_at"] == 4


def test_resume_with_frozen_embeddings_is_exact(tiny_text, vectors, tmp_path):
    start = {"init": "cipher", "freeze_fraction": 0.6, "learning_rate_multiplier": 0.5}
    run_pretraining(config_of(tmp_path / "straight", tiny_text, vectors, embeddings=start))

    def stop(step, note):
        if step > 5:
            raise InterruptedError

    config = config_of(tmp_path / "stopped", tiny_text, vectors, embeddings=start)
    with pytest.raises(InterruptedError):
        run_pretraining(config, stop)
    run_pretraining(config)
    assert curve_of(tmp_path / "stopped") == curve_of(tmp_path / "straight")


def test_freeze_schedule():
    by_step, by_loss = (
        FreezeSchedule(EmbeddingInitOptions(freeze_fraction=0.25)),
        FreezeSchedule(EmbeddingInitOptions(freeze_fraction=0.5, unfreeze="plateau", plateau_threshold=0.1)),
    )
    assert [by_step.is_frozen(step, 8, None) for step in range(4)] == [True, True, False, False]
    assert not by_step.should_unfreeze(1.0, 5.0)
    assert not by_loss.should_unfreeze(None, 5.0)
    assert not by_loss.should_unfreeze(5.0, 4.4)
    assert by_loss.should_unfreeze(5.0, 4.6)
    assert [by_loss.is_frozen(step, 8, 2) for step in (1, 2, 3)] == [True, False, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": "luke"}, "`init` must be random or cipher"),
        ({"freeze_fraction": 1.5}, "`freeze_fraction`"),
        ({"vectors": "v"}, "embeddings.init"),
        ({"init": "cipher", "vectors": "v", "build": {"bits": 5}}, "exclude each other"),
    ],
)
def test_invalid_options_raise(options, message):
    with pytest.raises(BitcipherError, match=message):
        EmbeddingInitOptions(**options)
