"""Tiny models of every architecture, and batches for them."""

import torch

from training.data.special_tokens import SpecialTokens
from training.models.build import build_model
from training.models.options import ModelOptions

torch.set_num_threads(1)

VOCABULARY = 60
LENGTH = 12
SPECIALS = SpecialTokens(pad=0, begin=1, end=2, unknown=3, mask=4, sentinels=(5, 6, 7, 8))
TINY = ModelOptions(
    architecture="bert",
    num_hidden_layers=2,
    hidden_size=16,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=LENGTH,
    dropout=0.1,
)

KINDS = {
    "bert": {"architecture": "bert"},
    "bert with next sentence": {"architecture": "bert", "next_sentence": True},
    "roberta": {"architecture": "roberta"},
    "modernbert": {"architecture": "modernbert"},
    "modernbert with next sentence": {"architecture": "modernbert", "next_sentence": True},
    "deberta": {"architecture": "deberta"},
    "gpt2": {"architecture": "gpt2"},
    "opt": {"architecture": "opt"},
    "t5": {"architecture": "t5"},
}
KINDS |= {f"{name}, untied": options | {"tie_word_embeddings": False} for name, options in KINDS.items()}
KINDS["roberta, untied, of narrow rows"] = KINDS["roberta, untied"] | {"embedding_size": 6}


def options_of(kind: str, **changed) -> ModelOptions:
    return TINY.copy_with(**(KINDS[kind] | changed))


def model_of(kind: str, seed: int = 1, **changed):
    return build_model(options_of(kind, **changed), SPECIALS, VOCABULARY, seed)


def batch_of(kind: str, rows: int = 3) -> dict[str, torch.Tensor]:
    numbers = torch.Generator().manual_seed(0)
    batch = {"input_ids": torch.randint(9, VOCABULARY, (rows, LENGTH), generator=numbers)}
    if kind.startswith("t5"):
        batch["decoder_input_ids"] = torch.randint(9, VOCABULARY, (rows, 7), generator=numbers)
    if kind.startswith("bert") or "next" in kind:
        batch["token_type_ids"] = (torch.arange(LENGTH) > 5).long().expand(rows, LENGTH)
        batch["attention_mask"] = torch.ones(rows, LENGTH, dtype=torch.int64)
    return batch
