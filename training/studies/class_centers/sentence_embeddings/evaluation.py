"""Evaluation of sentence embeddings: a table of accuracies and a figure."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.runtime.progress import StageProgress
from training.comparison.curves.comparison import copy_files
from training.loop.distributed import World
from training.studies.class_centers.sentence_embeddings.class_accuracy import (
    accuracy_table,
    measure_classes,
    most_frequent_accuracy,
)
from training.studies.class_centers.sentence_embeddings.encoders import (
    check_encoder,
    encode_texts,
    with_random_weights,
)
from training.studies.class_centers.sentence_embeddings.labeled_sentences import LabeledSentences
from training.studies.class_centers.sentence_embeddings.sentence_figure import draw_sentences

MODEL, RANDOM, VECTORS = "model", "random weights", "cipher vectors"
# Files of an evaluation.
TABLE, FIGURE = "sentences.md", "sentences.png"
# A figure and a probe need at least this many test sentences.
MIN_SENTENCES = 3


def evaluate_sentences(
    model: PreTrainedModel,
    tokenizer: Tokenizer,
    vectors: CipherVectors | None,
    train: LabeledSentences,
    test: LabeledSentences,
    out: str,
    progress: StageProgress,
) -> str:
    """Write `sentences.md` and `sentences.png`, and return the table in Markdown.

    Args:
        model: encoder, with any head.
        tokenizer: tokenizer of the model.
        vectors: word vectors with counts, or None.
        train: sentences from which centers and probes are made.
        test: sentences that are classified.
        out: directory or URI; files of these names are replaced.
        progress: progress display.

    Raises:
        BitcipherError: if the model is no encoder, there are too few sentences, all training sentences have the same
            label, or the vectors have no counts.
    """
    if len(test.texts) < MIN_SENTENCES:
        raise BitcipherError(f"There are {len(test.texts)} test sentences; provide at least {MIN_SENTENCES}.")
    encoder, device = check_encoder(model), World.current("auto").device
    texts = (*train.texts, *test.texts)
    encoders = {MODEL: encoder, RANDOM: with_random_weights(encoder)}
    bar = progress.begin("embed", len(encoders) + (vectors is not None))
    embeddings: dict[str, np.ndarray] = {}
    for name, each in encoders.items():
        embeddings[name] = encode_texts(each.to(device), tokenizer, texts)
        progress.advance(bar, 1, name)
    if vectors is not None:
        embeddings[VECTORS] = vectors.encode(list(texts))
        progress.advance(bar, 1, VECTORS)
    parts = {name: (rows[: len(train.texts)], rows[len(train.texts) :]) for name, rows in embeddings.items()}
    accuracies = {
        name: {
            level: measure_classes(trained, train.labels[level], tested, test.labels[level]) for level in train.labels
        }
        for name, (trained, tested) in parts.items()
    }
    most_frequent = {level: most_frequent_accuracy(train.labels[level], test.labels[level]) for level in train.labels}
    table = accuracy_table(accuracies, most_frequent)
    with TemporaryDirectory() as temporary:
        Path(temporary, TABLE).write_text(table)
        draw_sentences({name: tested for name, (_, tested) in parts.items()}, test, Path(temporary, FIGURE))
        copy_files(Path(temporary), out)
    return table
