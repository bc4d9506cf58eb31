"""Checkpoints as transformers opens them: `AutoTokenizer`, Auto classes and pipelines give this project's logits."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from tiny_runs import config_of, tiny_documents, write_tiny_text
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    pipeline,
)

from training.data.special_tokens import special_tokens
from training.evaluation.decoding.generation import generate
from training.evaluation.decoding.options import DecodingOptions
from training.evaluation.decoding.stored_model import open_model
from training.loop.checkpoint_folders import latest_checkpoint
from training.models.checkpoint import load_model
from training.models.parts import hidden_states, logits
from training.models.replaced_tokens import extract_discriminator
from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")

SHORT = {"max_steps": 2, "batch_size": 4, "eval_steps": 2, "save_steps": 2, "eval_sequences": 4}
TEXTS = ["the cat sees a dog.", "nobody bites"]
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    return {
        "bpe": write_tiny_text(folder / "bpe"),
        "wordpiece": write_tiny_text(folder / "wordpiece", kind="wordpiece"),
        "unigram": write_tiny_text(folder / "unigram", kind="unigram", sentinels=8),
    }


@torch.enable_grad()
def train(folder, text, objective, architecture, **model):
    config = config_of(
        folder, text, model={"architecture": architecture, **model}, objective={"name": objective}, loop=SHORT
    )
    run_pretraining(config)
    return latest_checkpoint(folder)


def opened(checkpoint, auto_class):
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    model = auto_class.from_pretrained(checkpoint, dtype=torch.float32)
    assert tokenizer.pad_token_id is not None
    return tokenizer, model.eval()


def our_inputs(folder, text, *, begin=True, end=True):
    """Return the tokens of a text with the special tokens that training has."""
    model, tokenizer = open_model(str(folder))
    special = special_tokens(tokenizer)
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    before = [special.begin] if begin and end else [special.end] if begin else []
    return model.eval(), tokenizer, torch.tensor([[*before, *ids, *[special.end] * end]])


@torch.no_grad()
@pytest.mark.parametrize(
    ("objective", "architecture", "kind"),
    [
        ("masked", "bert", "wordpiece"),
        ("next_sentence", "bert", "wordpiece"),
        ("masked", "roberta", "bpe"),
        ("masked", "modernbert", "bpe"),
        ("next_sentence", "modernbert", "bpe"),
    ],
)
def test_masked_language_models(texts, tmp_path, objective, architecture, kind):
    checkpoint = train(tmp_path, texts[kind], objective, architecture, next_sentence=objective == "next_sentence")
    tokenizer, model = opened(checkpoint, AutoModelForMaskedLM)
    for text in TEXTS:
        ours, _, ids = our_inputs(tmp_path, text)
        theirs = tokenizer(text, return_tensors="pt")
        assert theirs["input_ids"].tolist() == ids.tolist()
        expected = logits(ours, hidden_states(ours, {"input_ids": ids}))
        np.testing.assert_allclose(model(**theirs).logits, expected, atol=TOLERANCE)
    padded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    alone = model(**tokenizer(TEXTS[1], return_tensors="pt")).logits[0]
    np.testing.assert_allclose(model(**padded).logits[1, : len(alone)], alone, atol=TOLERANCE)
    fill = pipeline("fill-mask", model=str(checkpoint))
    found = fill(f"the cat sees a {tokenizer.mask_token}.")
    ids = tokenizer(f"the cat sees a {tokenizer.mask_token}.", return_tensors="pt")["input_ids"]
    expected = logits(ours, hidden_states(ours, {"input_ids": ids}))[0].softmax(-1)
    at = ids[0].tolist().index(tokenizer.mask_token_id)
    assert found[0]["score"] == pytest.approx(float(expected[at].max()), abs=TOLERANCE)


@torch.no_grad()
@pytest.mark.parametrize("architecture", ["gpt2", "opt"])
def test_decoders(texts, tmp_path, architecture):
    checkpoint = train(tmp_path, texts["bpe"], "causal", architecture)
    tokenizer, model = opened(checkpoint, AutoModelForCausalLM)
    ours, own_tokenizer, ids = our_inputs(tmp_path, TEXTS[0], end=False)
    theirs = tokenizer(TEXTS[0], return_tensors="pt")
    assert theirs["input_ids"].tolist() == ids.tolist()
    expected = logits(ours, hidden_states(ours, {"input_ids": ids}))
    np.testing.assert_allclose(model(**theirs).logits, expected, atol=TOLERANCE)
    written = pipeline("text-generation", model=str(checkpoint))("the cat", max_new_tokens=4, do_sample=False)
    (continued,) = generate(ours, own_tokenizer, ["the cat"], DecodingOptions(max_new_tokens=4, temperature=0))
    assert written[0]["generated_text"] == f"the cat{continued}"


@torch.no_grad()
def test_encoder_decoder(texts, tmp_path):
    checkpoint = train(tmp_path, texts["unigram"], "span_corruption", "t5")
    tokenizer, model = opened(checkpoint, AutoModelForSeq2SeqLM)
    ours, _, ids = our_inputs(tmp_path, TEXTS[0], begin=False)
    theirs = tokenizer(TEXTS[0], return_tensors="pt")
    assert theirs["input_ids"].tolist() == ids.tolist()
    start = torch.tensor([[model.config.decoder_start_token_id, 7, 8]])
    expected = logits(ours, hidden_states(ours, {"input_ids": ids, "decoder_input_ids": start}))
    np.testing.assert_allclose(model(**theirs, decoder_input_ids=start).logits, expected, atol=TOLERANCE)


def test_run_and_checkpoints_have_the_same_tokenizer(texts, tmp_path):
    checkpoint = train(tmp_path, texts["bpe"], "causal", "gpt2")
    own, stored = AutoTokenizer.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(checkpoint)
    for text in tiny_documents(5):
        assert own(text)["input_ids"] == stored(text)["input_ids"]
    assert own.special_tokens_map == stored.special_tokens_map
    names = {"tokenizer.json", "tokenizer_config.json"}
    assert names <= set(json.loads((checkpoint / "files.json").read_text())["files"])
    assert names <= set(json.loads((tmp_path / "files.json").read_text())["files"])


@torch.no_grad()
def test_deberta_with_mask_decoder_needs_its_classes(texts, tmp_path):
    checkpoint = train(tmp_path, texts["bpe"], "masked", "deberta")
    tokenizer, model = opened(checkpoint, AutoModelForMaskedLM)  # this process has imported them
    ours, _, ids = our_inputs(tmp_path, TEXTS[0])
    theirs = tokenizer(TEXTS[0], return_tensors="pt")
    expected = logits(ours, hidden_states(ours, {"input_ids": ids}))
    np.testing.assert_allclose(model(**theirs).logits, expected, atol=TOLERANCE)
    encoder = AutoModel.from_pretrained(checkpoint, dtype=torch.float32).eval()
    same = ours.deberta(ids).last_hidden_state
    np.testing.assert_allclose(encoder(**theirs).last_hidden_state, same, atol=TOLERANCE)
    code = f"from transformers import AutoModelForMaskedLM; AutoModelForMaskedLM.from_pretrained({str(checkpoint)!r})"
    alone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "model type `deberta-mask-decoder`" in alone.stderr  # instead of a model without the decoder
    imported = subprocess.run(
        [sys.executable, "-c", f"import training.models.architectures; {code}"], capture_output=True
    )
    assert imported.returncode == 0, imported.stderr


def test_earlier_checkpoint_of_a_mask_decoder_is_read(texts, tmp_path):
    checkpoint = train(tmp_path, texts["bpe"], "masked", "deberta")
    config = json.loads((checkpoint / "config.json").read_text()) | {"model_type": "deberta-v2"}
    (checkpoint / "files.json").unlink()
    (checkpoint / "config.json").write_text(json.dumps(config))
    assert type(load_model(str(checkpoint))).__name__ == "DebertaWithMaskDecoder"


@torch.no_grad()
@pytest.mark.parametrize("sharing", ["es", "nes", "gdes"])
def test_generator_and_discriminator_in_subfolders(texts, tmp_path, sharing):
    model = {"generator_layers": 1, "embedding_sharing": sharing}
    checkpoint = train(tmp_path, texts["bpe"], "replaced_tokens", "modernbert", **model)
    ours, _, ids = our_inputs(tmp_path, TEXTS[0])
    tokenizer, generator = opened(checkpoint / "generator", AutoModelForMaskedLM)
    theirs = tokenizer(TEXTS[0], return_tensors="pt")
    assert theirs["input_ids"].tolist() == ids.tolist()
    expected = logits(ours, hidden_states(ours.generator, {"input_ids": ids}))
    np.testing.assert_allclose(generator(**theirs).logits, expected, atol=TOLERANCE)
    _, discriminator = opened(checkpoint / "discriminator", AutoModel)
    same = extract_discriminator(ours)(ids).last_hidden_state
    np.testing.assert_allclose(discriminator(**theirs).last_hidden_state, same, atol=TOLERANCE)


@torch.no_grad()
def test_encoder_of_sentence_views_in_a_subfolder(texts, tmp_path):
    checkpoint = train(tmp_path, texts["bpe"], "simclr", "roberta", projector_size=8)
    ours, _, ids = our_inputs(tmp_path, TEXTS[0])
    tokenizer, encoder = opened(checkpoint / "encoder", AutoModel)
    same = ours.encoder(ids).last_hidden_state
    theirs = encoder(**tokenizer(TEXTS[0], return_tensors="pt")).last_hidden_state
    np.testing.assert_allclose(theirs, same, atol=TOLERANCE)
