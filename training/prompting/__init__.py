"""Evaluation of language models by prompts for the labels of texts, with and without examples; see README.md."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.prompting.label_template import LabelTemplate, find_template, read_template
    from training.prompting.labeled_rows import LabeledRow, read_labeled_rows
    from training.prompting.prompt_accuracy import PromptAccuracy, evaluate_prompts, majority_accuracy

__all__ = [
    "LabelTemplate",
    "LabeledRow",
    "PromptAccuracy",
    "evaluate_prompts",
    "find_template",
    "majority_accuracy",
    "read_labeled_rows",
    "read_template",
]

__getattr__ = lazy_names(
    __name__,
    {
        "label_template": ("LabelTemplate", "find_template", "read_template"),
        "labeled_rows": ("LabeledRow", "read_labeled_rows"),
        "prompt_accuracy": ("PromptAccuracy", "evaluate_prompts", "majority_accuracy"),
    },
)
