"""Models for tasks: pre-trained weights with a new head, in the class that transformers has for the task."""

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
from training.data.special_tokens import SpecialTokens
from training.models.checkpoint import load_model, read_config, translating_config_errors
from training.models.deberta import DebertaMaskDecoderConfig
from training.models.encoders import attention_kernel, max_sequence_length, traits_of
from training.models.replaced_tokens import ReplacedTokenConfig, find_encoder
from training.models.sentence_views import SentenceViewConfig
from training.tasks.base import Task

_CLASSES = {
    "classification": MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    "regression": MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    "question-answering": MODEL_FOR_QUESTION_ANSWERING_MAPPING,
    "token-classification": MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING,
}

# Weights of transformers' base models that a pre-trained model is allowed to lack: BERT's pooler, which only
# next-sentence prediction trains, and T5's head for questions.
_MAY_BE_NEW = ("pooler", "qa_outputs")
# Weights outside of the base model that are pre-trained: the dense layer and norm with which ModernBERT's heads begin.
_PRETRAINED_HEAD = "head."
# Heads of models for questions. All tasks of questions have the same two outputs, so the head is kept in the next one.
_QUESTION_HEADS = ("qa_outputs.", "classifier.")


class TaskModel(NamedTuple):
    """Model for a task before fine-tuning."""

    model: PreTrainedModel
    """Model in float32 on the CPU, in training mode."""
    new_weights: tuple[str, ...]
    """Names of the randomly initialized weights."""


def build_task_model(
    folder: str,
    task: Task,
    special_tokens: SpecialTokens,
    n_tokens: int,
    seed: int,
    *,
    random_init: bool = False,
    classifier_pooling: str | None = None,
) -> TaskModel:
    """Add a head for a task to a pre-trained model. A model for questions keeps its head for another task of questions.

    All weights are drawn from the seed first and then replaced with the pre-trained ones, so a model and its randomly
    initialized baseline have the same head.

    Args:
        folder: folder of the pre-trained model, with any head.
        task: task, whose kind and labels determine the head.
        special_tokens: special tokens of the tokenizer.
        n_tokens: the tokenizer's highest id plus one.
        seed: seed of the random weights. The caller's random state is restored.
        random_init: keep all weights random.
        classifier_pooling: states that ModernBERT's head for sentences reads; by default as in the model's config.json.

    Raises:
        BitcipherError: if transformers has no such head for the model, weights are missing, the tokenizer does not
            match the model, or the head has no `classifier_pooling`.
    """
    config = read_encoder_config(folder)
    classes = _CLASSES[task.kind]
    if type(config) not in classes:
        raise BitcipherError(f"transformers has no {config.model_type} model for {task.kind}.")
    _check_tokenizer(config, special_tokens, n_tokens, task.kind)
    _set_labels(config, task)
    if classifier_pooling is not None:
        _set_pooling(config, task, classifier_pooling)
    config._attn_implementation = attention_kernel(config)
    # Heads of tasks do not generate text, so the decoder of a T5 always shares the embeddings of its encoder.
    config.tie_word_embeddings = True
    with torch.random.fork_rng(devices=[]), translating_config_errors(folder):
        torch.default_generator.manual_seed(seed)
        model = classes[type(config)](config)
    # Sequence classifiers use the padding token to find the last token. The padding token is set after construction,
    # because OPT would not train its row of the embeddings.
    model.config.pad_token_id = special_tokens.pad
    model.config.use_cache = False
    copied = set() if random_init else _copy_weights(model, find_encoder(load_model(folder)), folder)
    new_weights = (name for name, _ in model.named_parameters() if name not in copied)
    return TaskModel(model.train(), tuple(new_weights))


def read_encoder_config(folder: str) -> PreTrainedConfig:
    """Return the configuration of the model to fine-tune: of the discriminator or the encoder, if it is a part.

    Raises:
        BitcipherError: if there is no configuration, or its architecture is not supported.
    """
    config = read_config(folder)
    with translating_config_errors(folder):
        if isinstance(config, ReplacedTokenConfig):
            return config.part("discriminator")
        # The encoder of a model for sentence views can be that of a DeBERTa with a mask decoder.
        while isinstance(config, SentenceViewConfig | DebertaMaskDecoderConfig):
            config = config.encoder_config()
        return config


def allow_length(config: PreTrainedConfig, length: int) -> None:
    """Set the configuration to a maximum sequence length, if the positions of the model allow it.

    ModernBERT's rotary positions have no weights, so it can be fine-tuned on longer sequences than those of its
    pre-training.

    Raises:
        BitcipherError: if the length exceeds the limit of a model with another kind of positions.
    """
    limit = max_sequence_length(config)
    if limit is None or length <= limit:
        return
    if not traits_of(config).rotary_positions:
        raise BitcipherError(f"`max_seq_length` must be at most {limit}, the limit of the model, got {length}.")
    config.max_position_embeddings = length


@torch.no_grad()
def _copy_weights(model: PreTrainedModel, source: PreTrainedModel, folder: str) -> set[str]:
    """Copy the weights of the base model and of a pre-trained head, and return their names."""
    base, weights = model.base_model, source.base_model.state_dict()
    shared = {name: weights[name] for name in base.state_dict() if name in weights}
    for name in base.state_dict():
        if name not in shared and not name.startswith(_MAY_BE_NEW):
            raise BitcipherError(f"The model in {folder} lacks the weights {name}, which {type(model).__name__} needs.")
    base.load_state_dict(shared, strict=False)
    both_answer = type(source) is type(model) is MODEL_FOR_QUESTION_ANSWERING_MAPPING.get(type(model.config), None)
    prefixes = (_PRETRAINED_HEAD, *_QUESTION_HEADS) if both_answer else (_PRETRAINED_HEAD,)
    head = {name: weight for name, weight in source.state_dict().items() if name.startswith(prefixes)}
    model.load_state_dict(head, strict=False)
    copied = {weight for name, weight in base.named_parameters() if name in shared}
    return {name for name, weight in model.named_parameters() if weight in copied or name in head}


def _check_tokenizer(config: PreTrainedConfig, special_tokens: SpecialTokens, n_tokens: int, kind: str) -> None:
    if n_tokens > config.vocab_size:
        raise BitcipherError(
            f"The model has {config.vocab_size:,} tokens, but its tokenizer.json has {n_tokens:,}; use the tokenizer "
            "that the model was trained with."
        )
    if config.pad_token_id not in (None, special_tokens.pad):
        raise BitcipherError(
            f"The model pads with token {config.pad_token_id}, but its tokenizer.json pads with token "
            f"{special_tokens.pad}; use the tokenizer that the model was trained with."
        )
    needs_end = config.is_encoder_decoder and kind in ("classification", "regression")
    if needs_end and special_tokens.pad == special_tokens.end:
        raise BitcipherError(
            "T5 classifies sentences by their last end token, but its tokenizer pads with the end token; add <pad>."
        )


def _set_labels(config: PreTrainedConfig, task: Task) -> None:
    if task.kind == "regression":
        config.num_labels = 1
    elif task.kind == "question-answering":
        config.num_labels = 2  # start and end
    else:
        config.id2label = dict(enumerate(task.labels))
        config.label2id = {label: number for number, label in enumerate(task.labels)}


def _set_pooling(config: PreTrainedConfig, task: Task, classifier_pooling: str) -> None:
    if not hasattr(config, "classifier_pooling") or task.kind not in ("classification", "regression"):
        raise BitcipherError(
            "`classifier_pooling` needs a ModernBERT and a task of sentences, got "
            f"{config.model_type} and {task.kind}; leave it out."
        )
    config.classifier_pooling = classifier_pooling
