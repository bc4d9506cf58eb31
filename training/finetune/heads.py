"""A pre-trained model under a head for a task: the classes that transformers has or knows for its configuration."""

from typing import NamedTuple

import torch
from transformers import (
    MODEL_FOR_QUESTION_ANSWERING_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING,
    PreTrainedConfig,
    PreTrainedModel,
)

from bitcipher.errors import BitcipherError
from training.data import SpecialTokens
from training.models import architecture_of, load_model
from training.models.checkpoint import read_config
from training.models.encoders import ROBERTA_OFFSET
from training.tasks.base import Task

_CLASSES = {
    "classification": MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    "regression": MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    "question-answering": MODEL_FOR_QUESTION_ANSWERING_MAPPING,
    "token-classification": MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING,
}

# Parts that transformers counts to a base model and that a pre-trained one may lack: BERT's pooler, which only the
# next-sentence objective trains, and T5's head for questions.
_MAY_BE_NEW = ("pooler", "qa_outputs")


class TaskModel(NamedTuple):
    """A model for a task, as it starts."""

    model: PreTrainedModel
    """In float32 on the CPU, in training mode."""
    new: tuple[str, ...]
    """The names of weights that are random."""


def task_model(
    folder: str, task: Task, specials: SpecialTokens, vocabulary: int, seed: int, *, random: bool = False
) -> TaskModel:
    """Put a head for a task on a pre-trained model.

    All weights are drawn from the seed first, and the pre-trained ones are then put in: a model and its random twin
    have the same head.

    Args:
        folder: of the pre-trained model, with whatever head it has.
        task: whose kind and labels say which head.
        specials: of its tokenizer.
        vocabulary: the tokenizer's highest id and one more.
        seed: of the random weights. The caller's random numbers go on as before.
        random: whether to leave all weights random.

    Raises:
        BitcipherError: if there is no such head for the model, it lacks weights, or the tokenizer is not its own.
    """
    config = read_config(folder)
    classes = _CLASSES[task.kind]
    if type(config) not in classes:
        raise BitcipherError(f"transformers has no model of the kind {config.model_type} for {task.kind}.")
    _check_tokenizer(config, specials, vocabulary, task.kind)
    _set_labels(config, task)
    config._attn_implementation = "sdpa"
    # No head for a task writes text, so a T5's decoder always shares its encoder's table.
    config.tie_word_embeddings = True
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = classes[type(config)](config)
    # What classes for sentences tell padding by; set late, or OPT would not train that token's row.
    model.config.pad_token_id = specials.pad
    model.config.use_cache = False
    filled = set() if random else _fill(model, load_model(folder), folder)
    new = (name for name, _ in model.named_parameters() if name not in filled)
    return TaskModel(model.train(), tuple(new))


def positions_of(config: PreTrainedConfig) -> int | None:
    """Tokens of the longest row that a model reads; None if there is no limit, as of T5."""
    most = getattr(config, "max_position_embeddings", None)
    if most is not None and architecture_of(config) == "roberta":
        return most - max(ROBERTA_OFFSET, config.pad_token_id + 1)
    return most


@torch.no_grad()
def _fill(model: PreTrainedModel, source: PreTrainedModel, folder: str) -> set[str]:
    """Copy the weights below the head, and tell their names."""
    body, own = model.base_model, source.base_model.state_dict()
    shared = {name: own[name] for name in body.state_dict() if name in own}
    for name in body.state_dict():
        if name not in shared and not name.startswith(_MAY_BE_NEW):
            raise BitcipherError(f"The model in {folder} has no weights {name}, which {type(model).__name__} needs.")
    body.load_state_dict(shared, strict=False)
    copied = {weight for name, weight in body.named_parameters() if name in shared}
    return {name for name, weight in model.named_parameters() if weight in copied}


def _check_tokenizer(config: PreTrainedConfig, specials: SpecialTokens, vocabulary: int, kind: str) -> None:
    if vocabulary > config.vocab_size:
        raise BitcipherError(
            f"The model knows {config.vocab_size:,} tokens, and its tokenizer.json has {vocabulary:,}: "
            "put that beside it that it was trained with."
        )
    if config.pad_token_id not in (None, specials.pad):
        raise BitcipherError(
            f"The model pads with token {config.pad_token_id}, and its tokenizer.json with token {specials.pad}: "
            "put that beside it that it was trained with."
        )
    if config.model_type == "t5" and kind in ("classification", "regression") and specials.pad == specials.end:
        raise BitcipherError("T5 tells sentences by their last end token, and its tokenizer pads with that: add <pad>.")


def _set_labels(config: PreTrainedConfig, task: Task) -> None:
    if task.kind == "regression":
        config.num_labels = 1
    elif task.kind == "question-answering":
        config.num_labels = 2  # start and end
    else:
        config.id2label = dict(enumerate(task.labels))
        config.label2id = {label: number for number, label in enumerate(task.labels)}
