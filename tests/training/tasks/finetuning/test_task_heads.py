from types import SimpleNamespace

import pytest
import torch
from tiny_tasks import write_model

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import save_tokenizer
from training.models import encoders
from training.models.checkpoint import load_model, read_config, save_model
from training.models.encoders import max_sequence_length
from training.models.options import ARCHITECTURES
from training.tasks.finetuning.heads import allow_length, build_task_model

KINDS = ("classification", "regression", "question-answering", "token-classification")


def task_of(kind):
    return SimpleNamespace(kind=kind, labels=("a", "b", "c"))


def made_of(folder, kind, seed=1, **changes):
    tokenizer = load_tokenizer(str(folder / "tokenizer.json"))
    size = changes.pop("vocabulary", vocab_size(tokenizer))
    return build_task_model(str(folder), task_of(kind), special_tokens(tokenizer), size, seed, **changes)


NARROW = "roberta of narrow rows"


@pytest.fixture(scope="module", params=[*ARCHITECTURES, NARROW])
def folder(request, tmp_path_factory):
    changed = {"tie_word_embeddings": False, "embedding_size": 12} if request.param == NARROW else {}
    return write_model(tmp_path_factory.mktemp("models") / "model", request.param.split()[0], **changed)


def architecture_of(folder):
    return read_config(str(folder)).model_type


def kinds_of(folder):
    return [kind for kind in KINDS if kind != "token-classification" or architecture_of(folder) != "opt"]


def test_pretrained_weights_are_copied(folder):
    source = {name: weight for name, weight in load_model(str(folder)).base_model.named_parameters()}
    for kind in kinds_of(folder):
        made = made_of(folder, kind)
        below = dict(made.model.base_model.named_parameters())
        kept = below.keys() & source.keys()
        assert all(torch.equal(below[name], source[name]) for name in kept)
        heads = [name for name, _ in made.model.named_parameters() if name.startswith("head.")]
        assert bool(heads) == (architecture_of(folder) == "modernbert")
        assert len(kept) + len(heads) + len(made.new_weights) == len(list(made.model.parameters()))


def test_pretrained_head_of_modernbert_is_copied(tmp_path):
    folder = write_model(tmp_path / "model", "modernbert")
    made = made_of(folder, "classification")
    assert made.new_weights == ("classifier.weight", "classifier.bias")
    assert torch.equal(made.model.head.dense.weight, load_model(str(folder)).head.dense.weight)


def test_head_of_model_for_questions_is_kept_for_questions_only(folder, tmp_path):
    first = made_of(folder, "question-answering", seed=1).model
    save_model(first, str(tmp_path / "answering"))
    save_tokenizer(load_tokenizer(str(folder / "tokenizer.json")), str(tmp_path / "answering" / "tokenizer.json"))
    second = made_of(tmp_path / "answering", "question-answering", seed=2)
    assert second.new_weights == ()
    weights = second.model.state_dict()
    assert all(torch.equal(weights[name], weight) for name, weight in first.state_dict().items())
    assert made_of(tmp_path / "answering", "classification", seed=2).new_weights


def test_new_weights_are_heads_and_poolers(folder):
    new = {name for kind in kinds_of(folder) for name in made_of(folder, kind).new_weights}
    parts = {name.removeprefix("bert.").split(".")[0] for name in new}
    assert parts <= {"classifier", "score", "qa_outputs", "classification_head", "pooler"}
    assert ("pooler" in parts) == (architecture_of(folder) in ("bert", "deberta-mask-decoder"))


def test_head_depends_on_seed_only(folder):
    for kind in kinds_of(folder):
        torch.manual_seed(1)
        first = made_of(folder, kind)
        drawn = torch.rand(1)
        torch.manual_seed(1)
        assert torch.equal(torch.rand(1), drawn)  # the caller's random state is kept
        torch.manual_seed(2)
        same, other = made_of(folder, kind).model.state_dict(), made_of(folder, kind, seed=2).model.state_dict()
        own = first.model.state_dict()
        assert all(torch.equal(own[name], same[name]) for name in own)
        matrices = [name for name in first.new_weights if own[name].ndim == 2]
        assert matrices
        assert not any(torch.equal(own[name], other[name]) for name in matrices)


def test_random_baseline_has_same_head(folder):
    for kind in kinds_of(folder):
        made, twin = made_of(folder, kind), made_of(folder, kind, random_init=True)
        assert twin.model.config.to_dict() == made.model.config.to_dict()
        own, random = made.model.state_dict(), twin.model.state_dict()
        assert {name: weight.shape for name, weight in own.items()} == {n: w.shape for n, w in random.items()}
        assert set(twin.new_weights) == {name for name, _ in twin.model.named_parameters()}
        assert all(torch.equal(own[name], random[name]) for name in made.new_weights)
        matrices = [name for name in twin.new_weights if name not in made.new_weights and own[name].ndim == 2]
        assert not any(torch.equal(own[name], random[name]) for name in matrices)


def test_max_sequence_length(folder):
    assert max_sequence_length(made_of(folder, "classification").model.config) == (
        None if architecture_of(folder) == "t5" else 32
    )


def test_only_rotary_positions_allow_longer_sequences(folder):
    model = made_of(folder, "classification").model.eval()
    ids = torch.full((1, 48), 7)
    if architecture_of(folder) == "t5":
        allow_length(model.config, 48)
        assert max_sequence_length(model.config) is None
    elif architecture_of(folder) == "modernbert":
        before = model(input_ids=ids[:, :32]).logits
        allow_length(model.config, 16)
        assert max_sequence_length(model.config) == 32
        allow_length(model.config, 48)
        assert max_sequence_length(model.config) == 48
        assert torch.isfinite(model(input_ids=ids).logits).all()
        assert torch.equal(model(input_ids=ids[:, :32]).logits, before)
    else:
        with pytest.raises(BitcipherError, match="`max_seq_length` must be at most 32, the limit of the model, got 48"):
            allow_length(model.config, 48)


def test_trained_pooler_is_copied(tmp_path):
    folder = write_model(tmp_path / "model", "bert", next_sentence=True)
    made = made_of(folder, "classification")
    assert made.new_weights == ("classifier.weight", "classifier.bias")
    assert torch.equal(made.model.bert.pooler.dense.weight, load_model(str(folder)).bert.pooler.dense.weight)


def test_untied_t5_shares_embeddings(tmp_path):
    model = made_of(write_model(tmp_path / "model", "t5", tie_word_embeddings=False), "classification").model
    assert model.transformer.decoder.embed_tokens.weight is model.transformer.encoder.embed_tokens.weight


def test_invalid_options_raise(tmp_path):
    opt, roberta = (write_model(tmp_path / kind, kind) for kind in ("opt", "roberta"))
    with pytest.raises(BitcipherError, match="no opt model for token-classification"):
        made_of(opt, "token-classification")
    with pytest.raises(BitcipherError, match=r"tokenizer.json has 500"):
        made_of(roberta, "classification", vocabulary=500)
    specials = special_tokens(load_tokenizer(str(roberta / "tokenizer.json")))
    with pytest.raises(BitcipherError, match="pads with token 0"):
        build_task_model(str(roberta), task_of("regression"), specials.__class__(3, 1, 2, 3, 4, ()), 60, 1)


@pytest.mark.parametrize("architecture", ["bert", "roberta", "modernbert", "deberta"])
def test_discriminator_is_fine_tuned_with_its_summed_table(tmp_path, architecture):
    folder = write_model(tmp_path / "model", architecture, generator_layers=1, num_hidden_layers=2)
    pair = load_model(str(folder))
    with torch.no_grad():
        pair.discriminator.get_input_embeddings().weight.normal_()
    save_model(pair, str(folder))
    made = made_of(folder, "classification")
    assert encoders.architecture_of(made.model.config) == architecture
    assert torch.equal(made.model.get_input_embeddings().weight, pair.discriminator_table())
    below, source = dict(made.model.base_model.named_parameters()), dict(pair.discriminator.named_parameters())
    layers = [name for name in source if "layer" in name]
    assert layers
    assert all(torch.equal(below[name], source[name]) for name in layers)
    assert not any("layer" in name for name in made.new_weights)


@pytest.mark.parametrize("architecture", ["bert", "roberta", "modernbert", "deberta"])
def test_encoder_with_projector_is_fine_tuned_without_it(tmp_path, architecture):
    folder = write_model(tmp_path / "model", architecture, projector_size=6)
    source = dict(load_model(str(folder)).encoder.named_parameters())
    made = made_of(folder, "classification")
    assert encoders.architecture_of(made.model.config) == architecture
    below = dict(made.model.base_model.named_parameters())
    assert all(torch.equal(below[name], weight) for name, weight in source.items())
    assert not any("projector" in name for name in below)
