import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from tiny_models import KINDS, batch_of, model_of
from transformers import AutoModelForMaskedLM, BertConfig, BertForSequenceClassification, BertModel

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from training.models.checkpoint import load_model, save_model
from training.models.parts import hidden_states, is_tied, logits


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["disk", "store"])
def test_model_round_trip(kind, target, tmp_path):
    folder = str(tmp_path / "model") if target == "disk" else f"memory://models/{kind}"
    model, batch = model_of(kind).eval(), batch_of(kind)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
    save_model(model, folder)
    assert {"config.json", "model.safetensors"} <= set(storage.list_files(folder))
    loaded = load_model(folder)
    assert type(loaded) is type(model)
    assert not loaded.training
    assert loaded.config._attn_implementation == ("eager" if kind.startswith("deberta") else "sdpa")
    assert is_tied(loaded) == is_tied(model)
    assert torch.equal(logits(model, hidden_states(model, batch)), logits(loaded, hidden_states(loaded, batch)))
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert {name for name, weight in loaded.named_parameters() if weight.requires_grad} == trained
    loaded.tie_weights()
    assert is_tied(loaded) == is_tied(model)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_bytes_are_deterministic_and_tied_weights_stored_once(kind, tmp_path):
    model = model_of(kind)
    contents = []
    for name in ("one", "two"):
        save_model(model, str(tmp_path / name))
        contents.append((tmp_path / name / "model.safetensors").read_bytes())
    assert contents[0] == contents[1]
    with safe_open(tmp_path / "one" / "model.safetensors", "pt") as stored:
        names = list(stored.keys())
    assert len([name for name in names if "embed_tokens" in name or "shared" in name or "lm_head.weight" in name]) <= 2


def test_transformers_interoperability(tmp_path):
    model, batch = model_of("roberta").eval(), batch_of("roberta")
    save_model(model, str(tmp_path / "ours"))
    theirs = AutoModelForMaskedLM.from_pretrained(tmp_path / "ours", local_files_only=True)
    assert torch.equal(theirs.eval()(**batch).logits, model(**batch).logits)
    theirs.save_pretrained(tmp_path / "theirs", max_shard_size="5KB")
    assert len(list((tmp_path / "theirs").glob("*.safetensors"))) > 1
    assert torch.equal(load_model(str(tmp_path / "theirs"))(**batch).logits, model(**batch).logits)


def test_other_heads_round_trip(tmp_path):
    config = BertConfig(vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    for model in (BertForSequenceClassification(config), BertModel(config)):
        save_model(model, str(tmp_path))
        loaded = load_model(str(tmp_path))
        assert type(loaded) is type(model)
        assert all(map(torch.equal, loaded.state_dict().values(), model.state_dict().values()))


def test_loading_is_silent_and_keeps_random_state(tmp_path, capfd):
    save_model(model_of("t5, untied"), str(tmp_path))
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    load_model(str(tmp_path))
    assert torch.equal(torch.rand(3), expected)
    assert capfd.readouterr() == ("", "")


def test_hub_names_are_not_downloaded(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("bert-base-uncased", "google-bert/bert-base-uncased"):
        with pytest.raises(BitcipherError, match="There is no model"):
            load_model(name)


def test_pickled_weights_raise(tmp_path):
    save_model(model_of("bert"), str(tmp_path))
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(BitcipherError, match="is pickled"):
        load_model(str(tmp_path))
    (tmp_path / "pytorch_model.bin").unlink()
    with pytest.raises(BitcipherError, match="no weights"):
        load_model(str(tmp_path))


class Payload:
    """Object whose pickle creates a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def split(folder):
    """Store a model in two files with an index, and return the index."""
    model = model_of("bert")
    model.save_pretrained(folder, max_shard_size="20KB")
    return model, folder / "model.safetensors.index.json"


def test_weights_in_several_files(tmp_path):
    model, index = split(tmp_path)
    assert len(set(json.loads(index.read_text())["weight_map"].values())) > 1
    loaded = load_model(str(tmp_path))
    assert all(map(torch.equal, loaded.state_dict().values(), model.state_dict().values()))


@pytest.mark.parametrize(
    "name",
    [
        "../outside.bin",
        "inside.bin",
        "../outside.safetensors",
        "a/b.safetensors",
        ".safetensors",
        "/tmp/a.safetensors",
        "a\\b.bin\n.safetensors",
        1,
    ],
)
@pytest.mark.parametrize("where", ["one", "all"])
def test_index_cannot_name_other_files(tmp_path, name, where):
    folder = tmp_path / "model"
    _, index = split(folder)
    for path in (tmp_path / "outside.bin", folder / "inside.bin", tmp_path / "outside.safetensors"):
        torch.save(Payload(tmp_path / "ran"), path)
    content = json.loads(index.read_text())
    weights = content["weight_map"]
    weights |= dict.fromkeys([next(iter(weights))] if where == "one" else weights, name)
    index.write_text(json.dumps(content))
    with pytest.raises(BitcipherError, match=r"index\.json.*weight_map"):
        load_model(str(folder))
    assert not (tmp_path / "ran").exists()


def test_missing_part_raises(tmp_path):
    _, index = split(tmp_path)
    name = max(json.loads(index.read_text())["weight_map"].values())
    (tmp_path / name).unlink()
    with pytest.raises(BitcipherError, match=f"names the weights {name}"):
        load_model(str(tmp_path))


def test_pickles_and_adapters_next_to_the_weights_are_not_read(tmp_path):
    model = model_of("bert")
    save_model(model, str(tmp_path))
    for name in ("pytorch_model.bin", "adapter_model.bin", "model.bin"):
        torch.save(Payload(tmp_path / "ran"), tmp_path / name)
    (tmp_path / "adapter_config.json").write_text(
        json.dumps({"base_model_name_or_path": "org/name", "peft_type": "LORA"})
    )
    config = json.loads((tmp_path / "config.json").read_text())
    code = {"auto_map": {"AutoModelForMaskedLM": "code.Model"}, "custom_pipelines": {}}
    (tmp_path / "config.json").write_text(json.dumps(config | code))
    (tmp_path / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    loaded = load_model(str(tmp_path))
    assert all(map(torch.equal, loaded.state_dict().values(), model.state_dict().values()))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "changed",
    [{"transformers_weights": "../outside.safetensors.index.json"}, {"quantization_config": {"quant_method": "awq"}}],
)
def test_config_cannot_name_other_weights(tmp_path, changed):
    save_model(model_of("bert"), str(tmp_path))
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | changed))
    with pytest.raises(BitcipherError, match=next(iter(changed))):
        load_model(str(tmp_path))


def test_damaged_weights_raise(tmp_path):
    save_model(model_of("bert"), str(tmp_path / "whole"))
    damaged = tmp_path / "damaged"
    shutil.copytree(tmp_path / "whole", damaged)
    (damaged / "model.safetensors").write_bytes((damaged / "model.safetensors").read_bytes()[:1000])
    with pytest.raises(BitcipherError, match="cannot be read"):
        load_model(str(damaged))
    partial = tmp_path / "partial"
    shutil.copytree(tmp_path / "whole", partial)
    config = json.loads((partial / "config.json").read_text())
    (partial / "config.json").write_text(json.dumps(config | {"architectures": ["BertForPreTraining"]}))
    with pytest.raises(BitcipherError, match="not a complete BertForPreTraining"):
        load_model(str(partial))
    (partial / "config.json").write_text(json.dumps(config | {"hidden_size": 32}))
    with pytest.raises(BitcipherError, match="cannot be read"):
        load_model(str(partial))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"architectures": ["RobertaForMaskedLM"]}, "class RobertaForMaskedLM"),
        ({"architectures": ["BertConfig"]}, "class BertConfig"),
        ({"architectures": None}, "class none"),
        ({"model_type": "mamba"}, "model_type 'mamba'"),
        ({"is_encoder_decoder": True}, "is_encoder_decoder is True, which no bert is"),
        ({"hidden_size": "wide"}, "not a valid model configuration"),
    ],
)
def test_unsupported_config_raises(changed, sentence, tmp_path):
    save_model(model_of("bert"), str(tmp_path))
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | changed))
    with pytest.raises(BitcipherError, match=sentence):
        load_model(str(tmp_path))
