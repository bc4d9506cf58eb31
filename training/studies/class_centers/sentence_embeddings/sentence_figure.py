"""Figure of sentences in two dimensions, colored by their labels."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.manifold import TSNE

from training.comparison.curves.figure import COLORS
from training.comparison.figures import to_png
from training.studies.class_centers.sentence_embeddings.labeled_sentences import LabeledSentences

PANEL_INCHES = 3.6
LEGEND_INCHES = 1.6
MAX_POINTS = 1_000
# t-SNE needs more points than this perplexity.
PERPLEXITY = 30
_OTHERS = "#CCCCCC"


def draw_sentences(embeddings: Mapping[str, np.ndarray], sentences: LabeledSentences, path: Path) -> None:
    """Plot sentences by t-SNE: a row of panels per level of labels, and a column per embedding.

    Args:
        embeddings: [N, H] float32 each, of the sentences, by name.
        sentences: N sentences, at least 3; of more than `MAX_POINTS`, those with the lowest hashes are drawn.
        path: output path of the PNG; the same embeddings give the same bytes.
    """
    drawn = _sample(sentences.texts)
    positions = {name: project_to_plane(rows[drawn]) for name, rows in embeddings.items()}
    size = (len(positions) * PANEL_INCHES + LEGEND_INCHES, len(sentences.labels) * PANEL_INCHES)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(sentences.labels), len(positions), squeeze=False)
    for row, (level, labels) in zip(panels, sentences.labels.items(), strict=True):
        for panel, (name, points) in zip(row, positions.items(), strict=True):
            _draw_points(panel, points, labels[drawn])
            panel.set_title(f"{name}, {level}", fontsize="medium")
        row[-1].legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    path.write_bytes(to_png(figure))


def project_to_plane(embeddings: np.ndarray) -> np.ndarray:
    """Return the positions [N, 2] float32 of embeddings [N, H] by t-SNE, N at least 3; the same on each call."""
    perplexity = min(PERPLEXITY, (len(embeddings) - 1) / 2)
    return TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(embeddings.astype(np.float32))


def _sample(texts: tuple[str, ...]) -> np.ndarray:
    """Return the numbers of at most `MAX_POINTS` texts, in order."""
    hashes = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    order = sorted(range(len(texts)), key=hashes.__getitem__)
    return np.sort(order[:MAX_POINTS])


def _draw_points(panel: Axes, points: np.ndarray, labels: np.ndarray) -> None:
    names, counts = np.unique(labels, return_counts=True)
    frequent = names[np.argsort(-counts, kind="stable")][: len(COLORS)]
    is_other = ~np.isin(labels, frequent)
    if is_other.any():
        panel.scatter(*points[is_other].T, s=4, color=_OTHERS, linewidths=0, label="other labels")
    for name, color in zip(frequent, COLORS, strict=False):
        panel.scatter(*points[labels == name].T, s=6, color=color, linewidths=0, label=str(name))
    panel.set(xticks=[], yticks=[])
