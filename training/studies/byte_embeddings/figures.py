"""Figures 4, 5 and 7 of Rodriguez Perez et al. (2023): lengths of vectors, surfaces of losses, principal components."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from training.comparison.figures import open_frame, to_png
from training.studies.byte_embeddings.alignment import ByteEmbeddings
from training.studies.byte_embeddings.losses import alignment_loss
from training.studies.byte_embeddings.options import AlignmentOptions

PANEL_INCHES = 4.2
OF_TABLE, OF_NETWORK = "table", "network"
COLORS = {OF_TABLE: "tab:blue", OF_NETWORK: "tab:green"}
# Pairs of the paper's Figure 7c.
PAIRS = (("man", "woman"), ("king", "queen"), ("prince", "princess"), ("duke", "duchess"), ("lion", "lioness"))
SURFACES = ("additive_euclidean_cosine", "multiplicative_euclidean_cosine")


def draw_norms(table: Tensor, vectors: Mapping[str, Tensor], path: Path) -> None:
    """Draw the distribution of the lengths of the rows of a table, and of the vectors of each network (Figure 4).

    Args:
        table: [n, H] vectors of the tokens in the model.
        vectors: [n, H] vectors of the same tokens, by name of the network.
        path: output path of the PNG.
    """
    lengths = {OF_TABLE: table.norm(dim=1).numpy()} | {name: each.norm(dim=1).numpy() for name, each in vectors.items()}
    low, high = np.percentile(np.concatenate(list(lengths.values())), (0.5, 99.5))
    figure = Figure(figsize=(1.6 * PANEL_INCHES, PANEL_INCHES), layout="constrained")
    axes = figure.subplots()
    bins = np.linspace(low, max(high, low + 1e-6), 80)
    axes.hist(lengths.pop(OF_TABLE), bins=bins, color=COLORS[OF_TABLE], alpha=0.35, label=OF_TABLE)
    for number, (name, values) in enumerate(lengths.items()):
        axes.hist(values, bins=bins, histtype="step", color=f"C{number + 1}", label=name)
    axes.set_xlabel("length of the vector")
    axes.set_ylabel("tokens")
    axes.legend(fontsize="small", frameon=False)
    open_frame(axes)
    path.write_bytes(to_png(figure))


def draw_loss_surfaces(options: AlignmentOptions, path: Path) -> None:
    """Draw the losses that combine distance and cosine, for vectors of two dimensions and the target (1, 1) (Figure 5).

    Args:
        options: `alpha` of the losses.
        path: output path of the PNG.
    """
    line = torch.linspace(-1, 3, 41)
    points = torch.cartesian_prod(line, line)
    target = torch.ones(1, 2)
    surfaces = {}
    for loss in SURFACES:
        of_loss = options.copy_with(loss=loss)
        values = [alignment_loss(of_loss, point[None], target, target) for point in points]
        surfaces[loss] = torch.stack(values).reshape(len(line), -1).T.numpy()
    levels = MaxNLocator(20).tick_values(0, max(each.max() for each in surfaces.values()))
    figure = Figure(figsize=(2.2 * PANEL_INCHES, PANEL_INCHES), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, (loss, values) in zip(panels, surfaces.items(), strict=True):
        image = panel.contourf(line.numpy(), line.numpy(), values, levels=levels, cmap="viridis")
        panel.plot(1, 1, marker="x", color="white")
        panel.set_title(f"{loss.replace('_', ' ')}, α = {options.alpha:g}", fontsize="medium")
        panel.set_aspect("equal")
    figure.colorbar(image, ax=panels, label="loss")
    path.write_bytes(to_png(figure))


def draw_principal_components(
    table: Tensor, tokens: Mapping[str, int], embeddings: ByteEmbeddings, name: str, path: Path
) -> None:
    """Draw the vectors of all tokens in the model and from a network, and those of pairs of words (Figure 7).

    All panels have the first two principal components of the table. A word outside the vocabulary has a vector from the
    network only.

    Args:
        table: [n, H] vectors of the tokens in the model.
        tokens: row of each token in the table.
        embeddings: network from bytes to vectors.
        name: name of the network.
        path: output path of the PNG.
    """
    mean = table.mean(dim=0)
    _, _, components = torch.linalg.svd(table - mean, full_matrices=False)

    def project(vectors: Tensor) -> np.ndarray:
        return ((vectors - mean) @ components[:2].T).numpy()

    words = [word for pair in PAIRS for word in pair]
    from_bytes = dict(zip(words, project(embeddings.embed(words)), strict=True))
    in_table = {word: project(table[tokens[word]][None])[0] for word in words if word in tokens}
    figure = Figure(figsize=(3 * PANEL_INCHES, PANEL_INCHES), layout="constrained")
    panels = figure.subplots(1, 3)
    clouds = {OF_TABLE: project(table), OF_NETWORK: project(embeddings.embed(list(tokens)))}
    for panel, (title, points) in zip(panels, clouds.items(), strict=False):
        panel.scatter(*points.T, s=4, linewidths=0, alpha=0.4, color=COLORS[title])
        panel.set_title(title if title == OF_TABLE else f"{title}: {name}", fontsize="medium")
    for panel in panels:
        panel.set_xlabel("first principal component")
        open_frame(panel)
    panels[0].set_ylabel("second principal component")
    panels[1].sharex(panels[0])
    panels[1].sharey(panels[0])
    _draw_pairs(panels[2], in_table, from_bytes)
    path.write_bytes(to_png(figure))


def _draw_pairs(panel: Axes, in_table: Mapping[str, np.ndarray], from_bytes: Mapping[str, np.ndarray]) -> None:
    """Draw the points of pairs of words, and a line between the two words of a pair.

    Words outside the vocabulary have hollow points.
    """
    for title, points in ((OF_TABLE, in_table), (OF_NETWORK, from_bytes)):
        color = COLORS[title]
        for pair in PAIRS:
            found = [points[word] for word in pair if word in points]
            if found:
                panel.plot(*np.array(found).T, color=color, linewidth=0.8, zorder=1)
        for word, point in points.items():
            face = color if word in in_table else "white"
            panel.scatter(*point, s=14, color=face, edgecolors=color, linewidths=0.8, zorder=2)
            panel.annotate(word, tuple(point), xytext=(3, 3), textcoords="offset points", fontsize=7, color=color)
        panel.scatter([], [], s=14, color=color, label=title)
    panel.scatter([], [], s=14, color="white", edgecolors=COLORS[OF_NETWORK], label="not in the vocabulary")
    panel.margins(x=0.2)  # for the words
    panel.set_title("pairs of words", fontsize="medium")
    panel.legend(fontsize="small", frameon=False)
