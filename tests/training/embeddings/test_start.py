import copy
import json

import numpy as np
import pytest
import torch
from tiny_runs import config_of, curve_of

from bitcipher.errors import BitcipherError
from bitcipher.vectors import CipherVectors
from training.data import TokenText, special_tokens, vocabulary_size
from training.embeddings import EmbeddingInitOptions, FreezeSchedule, install_table, scale_table, token_table
from training.loop import checkpoint_of
from training.models import ModelOptions, build_model, input_embeddings, is_tied, load_model, logits, output_bias
from training.pretrain import make_job, pretrain
from training.recipe import make_recipe

pytestmark = pytest.mark.usefixtures("one_thread")
ARCHITECTURES = ("bert", "roberta", "gpt2", "opt", "t5")


@pytest.fixture(scope="module")
def tokenizer(tiny_text):
    return TokenText.open(str(tiny_text)).tokenizer


@pytest.fixture(scope="module")
def vectors(tokenizer, tmp_path_factory):
    """A folder of vectors for all tokens but the special ones, of another width than the models."""
    words = [tokenizer.id_to_token(token) for token in range(5, vocabulary_size(tokenizer))]
    rows = np.random.default_rng(0).normal(size=(len(words), 24)) + 3
    folder = tmp_path_factory.mktemp("start") / "vectors"
    CipherVectors(words, rows, counts=np.arange(len(words), 0, -1)).save(folder)
    return folder


def model_of(architecture, tokenizer, tied, **changed):
    options = ModelOptions(architecture, layers=1, width=16, heads=2, inner=32, positions=16, tied=tied, **changed)
    return build_model(options, special_tokens(tokenizer), vocabulary_size(tokenizer), seed=1)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("tied", [True, False])
def test_only_known_rows_change_and_the_tie_stays(architecture, tied, tokenizer, vectors):
    cold = model_of(architecture, tokenizer, tied)
    warm = copy.deepcopy(cold)
    table = token_table(CipherVectors.load(vectors), tokenizer)
    installed = install_table(warm, table, EmbeddingInitOptions("cipher"))
    before, after = (input_embeddings(model).weight.detach() for model in (cold, warm))
    assert torch.equal(before[~table.known], after[~table.known])
    assert not (before[table.known] == after[table.known]).any()
    assert (installed.known, installed.cold) == (len(before) - 5, 5)
    assert is_tied(warm) == tied
    others = dict(cold.named_parameters())
    tables = {id(input_embeddings(warm).weight)}
    for name, weight in warm.named_parameters():
        assert id(weight) in tables or torch.equal(weight, others[name]), name
    if tied:
        hidden = torch.ones(1, 16)
        assert not torch.equal(logits(warm, hidden), logits(cold, hidden))


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_rows_have_the_spread_of_the_initialiser_times_the_scale(scale, tokenizer, vectors):
    model = model_of("gpt2", tokenizer, True)
    own = float(input_embeddings(model).weight.detach().square().mean().sqrt())
    table = token_table(CipherVectors.load(vectors), tokenizer)
    install_table(model, table, EmbeddingInitOptions("cipher", scale=scale))
    rows = input_embeddings(model).weight.detach()[table.known]
    assert float(rows.square().mean().sqrt()) == pytest.approx(scale * own, rel=1e-4)
    torch.testing.assert_close(rows.mean(dim=0), torch.zeros(16), atol=1e-6, rtol=0)


def test_the_last_bias_may_tell_frequencies(tokenizer, vectors):
    model = model_of("roberta", tokenizer, True)
    table = token_table(CipherVectors.load(vectors), tokenizer)
    install_table(model, table, EmbeddingInitOptions("cipher", output_bias=True))
    shares = torch.softmax(output_bias(model).detach(), 0).numpy()
    np.testing.assert_allclose(shares, (table.counts + 1) / (table.counts + 1).sum(), rtol=1e-4)


@pytest.mark.parametrize("width", [6, 24, 40])
def test_rows_are_fitted_to_a_table_of_another_width_than_the_states(width, tokenizer, vectors):
    model = model_of("roberta", tokenizer, False, embedding=width)
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    table = token_table(CipherVectors.load(vectors), tokenizer)
    installed = install_table(model, table, EmbeddingInitOptions("cipher"))
    (changed,) = (name for name, weight in model.named_parameters() if not torch.equal(weight, before[name]))
    rows = input_embeddings(model).weight.detach()[torch.from_numpy(table.known)]
    assert changed == "roberta.embeddings.word_embeddings.weight"
    assert (rows.shape[1], installed.dimensions) == (width, 24)
    if width == 24:
        centered = torch.from_numpy(table.rows[table.known] - table.rows[table.known].mean(axis=0))
        torch.testing.assert_close(rows / rows.std(), centered / centered.std())
    scale_table(model, 2.0)
    torch.testing.assert_close(input_embeddings(model).weight.detach()[torch.from_numpy(table.known)], 2 * rows)


def test_cold_and_warm_runs_share_everything_else_to_the_bit(tiny_text, vectors, tmp_path):
    jobs = []
    for name, given, start in (("cold", None, {}), ("warm", str(vectors), {"start": "cipher", "frozen": 0.5})):
        recipe = make_recipe(config_of(tmp_path / name, tiny_text, embeddings=start)["recipe"], "test")
        jobs.append(make_job(recipe, TokenText.open(str(tiny_text)), given, tmp_path / name))
    cold, warm = jobs
    for (name, one), other in zip(cold.model.named_parameters(), warm.model.parameters(), strict=True):
        assert torch.equal(one, other) == (one is not input_embeddings(cold.model).weight), name
    for positions in (np.arange(5), np.array([700, 3])):
        for name, array in cold.examples.training(positions).items():
            np.testing.assert_array_equal(array, warm.examples.training(positions)[name])


def test_a_cold_table_may_be_scaled(tiny_text, tmp_path):
    tables = []
    for scale in (1, 3):
        recipe = make_recipe(config_of(tmp_path / str(scale), tiny_text, embeddings={"scale": scale})["recipe"], "test")
        job = make_job(recipe, TokenText.open(str(tiny_text)), None, tmp_path / str(scale))
        tables.append(input_embeddings(job.model).weight.detach())
    assert torch.equal(tables[1], 3 * tables[0])


@pytest.mark.parametrize("tied", [True, False])
def test_a_frozen_table_stays_until_it_thaws(tied, tiny_text, vectors, tmp_path):
    start = {"start": "cipher", "frozen": 0.5}
    config = config_of(tmp_path / "run", tiny_text, vectors, embeddings=start, model={"tied": tied})
    pretrain(config)
    tables = [
        input_embeddings(load_model(str(tmp_path / "run" / "checkpoints" / f"{step:08d}"))).weight.detach()
        for step in (4, 8, 12)
    ]
    first = make_job(
        make_recipe(config["recipe"], "test"), TokenText.open(str(tiny_text)), str(vectors), tmp_path / "run"
    )
    assert torch.equal(tables[0], input_embeddings(first.model).weight.detach())
    assert not torch.equal(tables[0], tables[1])  # thawed at step 6
    assert not torch.equal(tables[1], tables[2])
    assert json.loads((tmp_path / "run" / "start.json").read_text())["known"] == len(tables[0]) - 5


def test_a_table_may_thaw_as_soon_as_the_loss_stops_falling(tiny_text, vectors, tmp_path):
    # No step lets the loss fall by nine tenths, so the second look thaws.
    start = {"start": "cipher", "frozen": 1.0, "thaw": "plateau", "plateau": 0.9}
    pretrain(config_of(tmp_path / "run", tiny_text, vectors, embeddings=start))
    state = json.loads((checkpoint_of(tmp_path / "run") / "state.json").read_text())
    assert state["thawed_at"] == 4


def test_a_stopped_warm_run_goes_on_to_the_bit(tiny_text, vectors, tmp_path):
    start = {"start": "cipher", "frozen": 0.6, "rate": 0.5}
    pretrain(config_of(tmp_path / "straight", tiny_text, vectors, embeddings=start))

    def stop(step, note):
        if step > 5:
            raise InterruptedError

    config = config_of(tmp_path / "stopped", tiny_text, vectors, embeddings=start)
    with pytest.raises(InterruptedError):
        pretrain(config, stop)
    pretrain(config)
    assert curve_of(tmp_path / "stopped") == curve_of(tmp_path / "straight")


def test_thawing_by_steps_and_by_the_loss():
    by_step, by_loss = (
        FreezeSchedule(EmbeddingInitOptions(frozen=0.25)),
        FreezeSchedule(EmbeddingInitOptions(frozen=0.5, thaw="plateau", plateau=0.1)),
    )
    assert [by_step.is_frozen(step, 8, None) for step in range(4)] == [True, True, False, False]
    assert not by_step.thaws(1.0, 5.0)
    assert not by_loss.thaws(None, 5.0)
    assert not by_loss.thaws(5.0, 4.4)
    assert by_loss.thaws(5.0, 4.6)
    assert [by_loss.is_frozen(step, 8, 2) for step in (1, 2, 3)] == [True, False, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "luke"}, "There is no start 'luke'"),
        ({"frozen": 1.5}, "frozen is a share of the steps"),
        ({"vectors": "v"}, "vectors and build are of a cipher start"),
        ({"start": "cipher", "vectors": "v", "build": {"bits": 5}}, "give vectors or build, not both"),
    ],
)
def test_what_cannot_be_is_a_plain_sentence(options, message):
    with pytest.raises(BitcipherError, match=message):
        EmbeddingInitOptions(**options)
