"""Accuracy of prompted labels with different numbers of demonstrations."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from training.data.counter_rng import derive_key, uniform
from training.data.tokenizer_files import plain_text_tokenizer
from training.evaluation.decoding.generation import generate
from training.evaluation.decoding.options import DecodingOptions
from training.evaluation.prompting.label_likelihood import score_labels
from training.evaluation.prompting.label_template import LabelTemplate
from training.evaluation.prompting.labeled_rows import LabeledRow
from training.models.encoders import max_sequence_length

# Maximum number of tokens of a generated chain of thought, which also ends at a line break.
REASONING_TOKENS = 60


@dataclass(frozen=True)
class PromptAccuracy:
    """Accuracy of a model with a number of demonstrations."""

    shots: int
    """Number of demonstrations in each prompt."""
    accuracies: tuple[float, ...]
    """Accuracy in percent for each seed; one value for prompts without demonstrations, which have no seed."""
    cut_prompts: int
    """Number of prompts of all seeds whose beginning was cut, because the model does not read such long ones."""


def evaluate_prompts(
    model: PreTrainedModel,
    tokenizer: Tokenizer,
    template: LabelTemplate,
    rows: Sequence[LabeledRow],
    train: Sequence[LabeledRow],
    shots: Sequence[int],
    n_seeds: int,
) -> tuple[PromptAccuracy, ...]:
    """Return the accuracy for each number of demonstrations.

    The predicted label is the one whose words have the highest mean log-likelihood per token. A seed draws the
    demonstrations of all prompts; with more shots, the same ones come first.

    Args:
        model: decoder or encoder-decoder with a language-modeling head.
        tokenizer: tokenizer of the model.
        template: template of the prompts.
        rows: rows to classify, at least one.
        train: rows to draw demonstrations from, unless the template has examples.
        shots: numbers of demonstrations.
        n_seeds: number of seeds, from 1.

    Raises:
        BitcipherError: if there are too few rows to draw demonstrations from, or as for `score_labels`.
    """
    pool = template.examples or train
    if max(shots) > len(pool):
        source = "`examples` of the template" if template.examples else "training examples (`--train`)"
        raise BitcipherError(f"{max(shots)} shots need as many {source}; there are {len(pool)}.")
    labels = list(template.labels)
    truth = np.array([labels.index(row[template.label_column]) for row in rows])
    results = []
    for n_shots in shots:
        accuracies, n_cut = [], 0
        for seed in range(1, n_seeds + 1) if n_shots else [0]:
            order = uniform(derive_key(seed, "shots"), np.arange(len(pool)), 1)[:, 0].argsort(kind="stable")
            drawn = [template.demonstration(pool[number]) for number in order[:n_shots].tolist()]
            prompts = [template.instruction + "".join(drawn) + template.beginning(row) for row in rows]
            if template.has_reasoning:
                prompts = _add_reasoning(model, tokenizer, prompts, template)
            scores, cut = score_labels(model, tokenizer, prompts, list(template.labels.values()))
            accuracies.append(100 * float((scores.argmax(axis=1) == truth).mean()))
            n_cut += cut
        results.append(PromptAccuracy(n_shots, tuple(accuracies), n_cut))
    return tuple(results)


def majority_accuracy(template: LabelTemplate, rows: Sequence[LabeledRow], train: Sequence[LabeledRow]) -> float:
    """Return the accuracy in percent of the most frequent label of the training rows, or without any, of the rows."""
    column = template.label_column
    ((most_frequent, _),) = Counter(row[column] for row in train or rows).most_common(1)
    return 100 * sum(row[column] == most_frequent for row in rows) / len(rows)


def _add_reasoning(
    model: PreTrainedModel, tokenizer: Tokenizer, prompts: Sequence[str], template: LabelTemplate
) -> list[str]:
    """Return prompts with a chain of thought that the model generates, up to the label (Wei et al. 2022)."""
    limit = max_sequence_length(model.config)
    # A short context is shared by the prompt and the chain of thought.
    room = None if limit is None else max(limit // 2, limit - 1 - REASONING_TOKENS)
    encoder = plain_text_tokenizer(tokenizer)
    read = [_last_tokens(encoder, prompt.rstrip(" "), room) for prompt in prompts]
    texts = generate(model, tokenizer, read, DecodingOptions(max_new_tokens=REASONING_TOKENS))
    thoughts = [text.strip().partition("\n")[0] for text in texts]
    return [prompt + thought + template.before_label for prompt, thought in zip(prompts, thoughts, strict=True)]


def _last_tokens(encoder: Tokenizer, text: str, number: int | None) -> str:
    """Return the end of a text that has at most a number of tokens, or the whole text without a number."""
    offsets = encoder.encode(text, add_special_tokens=False).offsets
    return text if number is None or len(offsets) <= number else text[offsets[-number][0] :]
