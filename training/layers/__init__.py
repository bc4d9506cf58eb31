"""What each layer of a language model tells apart, over its training; see README.md."""

from training.layers.centres import class_centres, nearest_centres
from training.layers.classes import frequent_tokens
from training.layers.draw import draw
from training.layers.linear import probe_accuracy
from training.layers.predictions import token_figures
from training.layers.records import Record, to_table
from training.layers.run import layers_of_run
from training.layers.states import layer_states
from training.layers.words import LabelledWords, labelled_words, word_figures

__all__ = [
    "LabelledWords",
    "Record",
    "class_centres",
    "draw",
    "frequent_tokens",
    "labelled_words",
    "layer_states",
    "layers_of_run",
    "nearest_centres",
    "probe_accuracy",
    "to_table",
    "token_figures",
    "word_figures",
]
