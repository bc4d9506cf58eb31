"""Table II and Figures 4 to 7 of Rodriguez Perez et al. (2023): a BERT whose input embeddings come from bytes."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from tokenizers import Tokenizer
from torch import Tensor
from transformers import PreTrainedModel

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.markdown import format_table
from bitcipher.files.settings import apply_settings
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from training.comparison.figures import open_frame, to_png
from training.data.token_streams import TokenDataset
from training.evaluation.decoding.stored_model import open_model
from training.loop.distributed import World
from training.loop.file_names import CONFIG, TOKENIZER
from training.models.parts import input_embeddings
from training.objectives.base import TextExamples
from training.objectives.masked import MaskedLM
from training.runs.prepare.text import prepare_text
from training.runs.pretraining_run import make_examples
from training.runs.recipe import Recipe
from training.runs.run_files import PretrainingConfig
from training.studies.byte_embeddings.alignment import ByteEmbeddings, align, aligned_tokens
from training.studies.byte_embeddings.figures import draw_loss_surfaces, draw_norms, draw_principal_components
from training.studies.byte_embeddings.options import AlignmentOptions
from training.studies.byte_embeddings.paired_accuracy import (
    MASKED,
    SENTENCE,
    BatchAccuracy,
    format_p_value,
    majority_accuracy,
    measure_accuracy,
    paired_p_value,
)
from training.studies.byte_embeddings.stored_embeddings import (
    ALIGNMENT_VERSION,
    METADATA,
    StoredAlignment,
    load_byte_embeddings,
    save_byte_embeddings,
    table_digest,
)
from training.studies.byte_embeddings.table_replacement import byte_table, random_table, replaced_input_embeddings

TEACHER, RANDOM, MAJORITY = "model", "random vectors", "no model: most frequent answer"
TASKS = {MASKED: "masked", SENTENCE: "sentences"}
SIGNIFICANCE_LEVELS = (0.05, 0.1)
PCA_LOSS = "additive_euclidean_cosine"  # of the paper's Figure 7; without it, the first loss
# The text trains nothing, so all of it could be evaluated, but objectives expect text in both splits.
VALIDATION_FRACTION = 0.5

Accuracies = Mapping[str, BatchAccuracy]


class Scores(NamedTuple):
    """Accuracies of a model with some input embeddings, by text and task."""

    name: str
    of_texts: list[Accuracies]


def reproduce_byte_embeddings(
    run: str,
    texts: Sequence[str],
    out: str,
    sizes: Sequence[str],
    losses: Sequence[str],
    settings: Sequence[str],
    eval_sequences: int,
    progress: StageProgress,
) -> str:
    """Align networks of each size and loss with the embeddings of a run, and compare the accuracy of the model.

    Args:
        run: path or URI of a run of `bitcipher train` with a masked objective.
        texts: sources to evaluate on, each of them apart.
        out: path or URI of the directory of table.md, the figures, and the networks, which are not trained again.
        sizes: sizes of the networks.
        losses: losses that networks of each size are trained with.
        settings: changes to the options of all alignments.
        eval_sequences: maximum number of examples of each text.
        progress: progress display.

    Returns:
        The table of accuracies, in Markdown.

    Raises:
        BitcipherError: if the folder is not a run of a masked objective, or an option is not valid.
    """
    all_options = [_make_options(size, loss, settings) for size, loss in product(sizes, losses)]
    if not storage.exists(storage.join(run, CONFIG)):
        raise BitcipherError(f"{run} is not a run of `bitcipher train`; train a BERT with it first.")
    recipe = PretrainingConfig.read(storage.join(run, CONFIG)).recipe
    if not isinstance(recipe.make_objective(), MaskedLM):
        raise BitcipherError(f"The run {run} masks no tokens; give a run of the objective masked or next_sentence.")
    model, tokenizer = open_model(run)
    world = World.current(recipe.loop.device)
    model.to(world.device)
    examples = [_examples_of(recipe, run, text, out, progress) for text in texts]
    batch = recipe.loop.micro_batch_size_for(1)

    def score(name: str, table: Tensor) -> Scores:
        with replaced_input_embeddings(model, table):
            return Scores(name, [measure_accuracy(model, each, eval_sequences, batch, world) for each in examples])

    own = input_embeddings(model).weight.detach()
    scores = [score(TEACHER, own)]
    networks = {}
    for options in all_options:
        name = f"{options.size}, {options.loss}"
        networks[name] = _aligned(model, tokenizer, options, out, progress)
        scores.append(score(name, byte_table(model, networks[name], aligned_tokens(tokenizer))))
    scores.append(score(RANDOM, random_table(model, seed=1)))
    scores.append(Scores(MAJORITY, [majority_accuracy(each, eval_sequences, batch) for each in examples]))
    formatted = _format(scores, texts)
    storage.write_bytes(storage.join(out, "table.md"), formatted.encode())
    with TemporaryDirectory() as folder:
        draw_p_values(scores, texts, Path(folder, "p-values.png"))
        _draw_embeddings(own.cpu(), aligned_tokens(tokenizer), networks, sizes[-1], Path(folder))
        for path in sorted(Path(folder).iterdir()):
            storage.write_bytes(storage.join(out, path.name), path.read_bytes())
    return formatted


@torch.no_grad()
def _draw_embeddings(
    weight: Tensor, token_ids: Mapping[str, int], networks: Mapping[str, ByteEmbeddings], size: str, folder: Path
) -> None:
    """Draw norms.png, loss-surfaces.png and pca.png, with the networks of one size."""
    table = weight[list(token_ids.values())].float()
    of_size = {name: each for name, each in networks.items() if each.options.size == size}
    # Vectors of other networks all have the same length.
    free = {name: each.embed(list(token_ids)) for name, each in of_size.items() if each.length is None}
    draw_norms(table, free, folder / "norms.png")
    name = preferred if (preferred := f"{size}, {PCA_LOSS}") in of_size else next(iter(of_size))
    draw_loss_surfaces(of_size[name].options, folder / "loss-surfaces.png")
    rows = {token: row for row, token in enumerate(token_ids)}
    draw_principal_components(table, rows, of_size[name], name, folder / "pca.png")


def _make_options(size: str, loss: str, settings: Sequence[str]) -> AlignmentOptions:
    values = {"size": size, "loss": loss}
    options = AlignmentOptions.parse(values, apply_settings(values, "the options of the alignment", settings))
    if (options.size, options.loss) != (size, loss):
        raise BitcipherError("Choose the sizes and losses to compare with `--size` and `--loss`, not with `--set`.")
    return options


def _examples_of(recipe: Recipe, run: str, text: str, out: str, progress: StageProgress) -> TextExamples:
    """Return the examples of a text, encoded by the tokenizer of the run."""
    tokenizer = recipe.text.tokenizer.copy_with(path=storage.join(run, TOKENIZER))
    options = recipe.text.copy_with(
        sources=(text,), validation_sources=(), validation_fraction=VALIDATION_FRACTION, tokenizer=tokenizer
    )
    folder = prepare_text(options, storage.join(out, "prepared"), InProcessRuntime(), progress)
    examples = make_examples(recipe, TokenDataset.open(folder))
    assert isinstance(examples, TextExamples)  # of a masked objective
    return examples


def _aligned(
    model: PreTrainedModel, tokenizer: Tokenizer, options: AlignmentOptions, out: str, progress: StageProgress
) -> ByteEmbeddings:
    """Return byte embeddings of a model: those of an earlier call with the same options, or new ones."""
    folder = storage.join(out, f"{options.size}-{options.loss}")
    tokens = aligned_tokens(tokenizer)
    rows = input_embeddings(model).weight[list(tokens.values())].cpu()
    table = table_digest(list(tokens), rows)
    if storage.exists(storage.join(folder, METADATA)):
        stored = StoredAlignment.read(storage.join(folder, METADATA))
        if stored.options != options:
            raise BitcipherError(f"{folder} holds byte embeddings with other options; choose another --out.")
        if stored.table is None:
            progress.say(
                f"{folder} was made by a version of bitcipher that did not record the table of its model, so whether "
                "the model is the same cannot be checked."
            )
        elif (stored.table, stored.version) != (table, ALIGNMENT_VERSION):
            what = "of another model" if stored.table != table else "of another version of bitcipher"
            raise BitcipherError(f"{folder} holds byte embeddings {what}; choose another --out.")
        return load_byte_embeddings(folder)
    bar = progress.begin(f"align {options.size}", options.epochs)
    embeddings = align(
        rows, list(tokens), options, lambda loss: progress.advance(bar, 1, f"{options.loss}: {loss:.4f}")
    )
    progress.end(bar)
    save_byte_embeddings(embeddings, folder, table)
    return embeddings


def _format(scores: Sequence[Scores], texts: Sequence[str]) -> str:
    """Return the table: accuracy in percent, and in parentheses the p-value of the difference from the model."""
    columns = [(number, task) for number in range(len(texts)) for task in scores[0].of_texts[number]]
    header = [
        "input embeddings",
        *(f"{_title(texts[number])}: {TASKS[task]}, %" for number, task in columns),
    ]
    rows = []
    for name, of_texts in scores:
        cells = [name]
        for number, task in columns:
            own, found = scores[0].of_texts[number][task], of_texts[number][task]
            p_value = "" if name == TEACHER else f" ({format_p_value(paired_p_value(own, found))})"
            cells.append(f"{found.accuracy:.1f}{p_value}")
        rows.append(cells)
    return format_table(header, rows)


def _title(text: str) -> str:
    """Return the name of a text without its ending."""
    return Path(text).name.split(".")[0]


def draw_p_values(scores: Sequence[Scores], texts: Sequence[str], path: Path) -> None:
    """Draw the p-value of the difference from the model for each network, in one panel per text and task (Figure 6).

    Args:
        scores: accuracies of the model, the networks, and baselines.
        texts: the texts.
        path: output path of the PNG.
    """
    columns = [(number, task) for number in range(len(texts)) for task in scores[0].of_texts[number]]
    networks = [each for each in scores if each.name not in (TEACHER, RANDOM, MAJORITY)]
    size = (4.2 * len(columns), 0.8 + 0.3 * len(networks))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(columns), squeeze=False, sharey=True)[0]
    for panel, (number, task) in zip(panels, columns, strict=True):
        own = scores[0].of_texts[number][task]
        values = [paired_p_value(own, each.of_texts[number][task]) for each in networks]
        colors = ["tab:blue" if each.name.startswith("small") else "tab:green" for each in networks]
        bars = panel.barh(np.arange(len(networks)), values, color=colors)
        panel.bar_label(bars, [format_p_value(value) for value in values], padding=3, fontsize=7)
        panel.set_xlim(0, max(1.35 * max(values), 1.2 * max(SIGNIFICANCE_LEVELS)))  # with space for the labels
        for level in SIGNIFICANCE_LEVELS:
            panel.axvline(level, color="gray", linestyle="--", linewidth=1)
        panel.set_yticks(np.arange(len(networks)), [each.name for each in networks])
        panel.set_xlabel("p-value")
        open_frame(panel)
        panel.set_title(f"{_title(texts[number])}: {TASKS[task]}", fontsize="medium")
    panels[0].invert_yaxis()  # of all panels, which share the axis
    path.write_bytes(to_png(figure))
