"""Nearest class-center accuracy and mismatch by layer.

Ben-Shaul & Dekel (2022), Nearest Class-Center Simplification through Intermediate Layers, section 4.1; the slides
Basics of NLP and SSL (Ben-Shaul 2023) show the metrics for encoders.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from training.studies.class_centers.layer_analysis.class_means import class_means, nearest_class_means

ACCURACY, MISMATCH, MODEL_ACCURACY = "ncc_accuracy", "ncc_mismatch", "model_accuracy"
TRAIN, HELD_OUT = "train", "held out"


class Samples(NamedTuple):
    """Samples of a batch.

    Attributes:
        states: [layers, N, H] hidden states of N samples.
        classes: [N] int64, their true classes.
        predict: returns [N] int64, the classes that the model predicts.
    """

    states: np.ndarray
    classes: np.ndarray
    predict: Callable[[], np.ndarray]


def center_metrics(
    samples: Mapping[str, Callable[[], Iterable[Samples]]], n_classes: int
) -> dict[tuple[str, str], np.ndarray]:
    """Return nearest-class-mean accuracy and mismatch of each layer, and the accuracy of the model.

    Held-out samples are compared with the class means of the training samples.

    Args:
        samples: functions that return the batches of `TRAIN` and `HELD_OUT`. That of the training samples is called
            twice, so samples need not be kept in memory.
        n_classes: number of classes.

    Returns:
        Arrays [layers] float64 by part and metric; NaN if a part has no sample. `ncc_accuracy` is the fraction of
        samples whose nearest class mean is that of the true class. `ncc_mismatch` is the fraction whose nearest class
        mean belongs to another class than the model's prediction. `model_accuracy`, equal for all layers, is the
        fraction that the model predicts correctly.
    """
    centers = class_means(((batch.states, batch.classes) for batch in samples[TRAIN]()), n_classes)
    metrics = {}
    for part, batches in samples.items():
        correct, mismatched, model_correct = np.zeros(len(centers)), np.zeros(len(centers)), 0
        total = 0
        for states, classes, predict in batches():
            nearest, predicted = nearest_class_means(states, centers), predict()
            correct += (nearest == classes).sum(axis=1)
            mismatched += (nearest != predicted).sum(axis=1)
            model_correct += (predicted == classes).sum()
            total += len(classes)
        counts = {ACCURACY: correct, MISMATCH: mismatched, MODEL_ACCURACY: np.full(len(centers), float(model_correct))}
        metrics |= {
            (part, name): count / total if total else np.full(len(centers), np.nan) for name, count in counts.items()
        }
    return metrics
