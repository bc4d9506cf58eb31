"""Class separability by layer over the training of a language model; see README.md."""

from training.layer_analysis.checkpoint_metrics import measure_layers
from training.layer_analysis.class_means import class_means, nearest_class_means
from training.layer_analysis.classifier_metrics import measure_classifier
from training.layer_analysis.hidden_states import layer_states
from training.layer_analysis.labeled_words import LabeledWords, label_words, word_accuracies
from training.layer_analysis.layer_figure import draw_layers
from training.layer_analysis.linear_probe import probe_accuracy
from training.layer_analysis.records import LayerMetric, to_table
from training.layer_analysis.token_classes import frequent_tokens
from training.layer_analysis.token_metrics import token_metrics

__all__ = [
    "LabeledWords",
    "LayerMetric",
    "class_means",
    "draw_layers",
    "frequent_tokens",
    "label_words",
    "layer_states",
    "measure_classifier",
    "measure_layers",
    "nearest_class_means",
    "probe_accuracy",
    "to_table",
    "token_metrics",
    "word_accuracies",
]
