"""Losses of tasks: sums, which divided by the targets are the losses of transformers."""

from types import SimpleNamespace

import pytest
import torch
from tiny_tasks import write_model

from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.data.special_tokens import special_tokens
from training.tasks.base import IGNORED
from training.tasks.finetuning.heads import build_task_model
from training.tasks.finetuning.losses import LOSSES

TARGETS = {
    "classification": {"labels": torch.tensor([0, 2, 1])},
    "regression": {"labels": torch.tensor([0.5, 4.0, 1.0])},
    "question-answering": {"start_positions": torch.tensor([0, 3, 2]), "end_positions": torch.tensor([0, 4, 6])},
    "token-classification": {"labels": torch.tensor([[IGNORED, 1, 2, IGNORED, 0, 0, 1, IGNORED]] * 3)},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("losses") / "model")


def model_and_batch(folder, kind):
    tokenizer = load_tokenizer(str(folder / "tokenizer.json"))
    size = vocab_size(tokenizer)
    made = build_task_model(str(folder), SimpleNamespace(kind=kind, labels="abc"), special_tokens(tokenizer), size, 1)
    ids = torch.randint(5, size, (3, 8), generator=torch.Generator().manual_seed(0))
    return made.model.eval(), {"input_ids": ids, "attention_mask": torch.ones_like(ids), **TARGETS[kind]}


@pytest.mark.parametrize("kind", LOSSES)
def test_losses_match_transformers(folder, kind):
    model, batch = model_and_batch(folder, kind)
    targets = LOSSES[kind].count_targets({name: values.numpy() for name, values in batch.items()})
    assert targets == {"question-answering": 6, "token-classification": 15}.get(kind, 3)
    torch.testing.assert_close(LOSSES[kind].loss(model, batch) / targets, model(**batch).loss)


@pytest.mark.parametrize("kind", LOSSES)
def test_padding_does_not_change_loss(folder, kind):
    model, batch = model_and_batch(folder, kind)
    ignored = {"labels": IGNORED} if kind == "token-classification" else {}
    padded = {
        name: torch.nn.functional.pad(values, (0, 4), value=ignored.get(name, 0)) if values.ndim == 2 else values
        for name, values in batch.items()
    }
    torch.testing.assert_close(LOSSES[kind].loss(model, padded), LOSSES[kind].loss(model, batch))
