"""Preparation of the examples of a recipe: a text, or pairs of texts."""

from collections.abc import Sequence

from pipelines.ingest.sources import Source
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from training.runs.prepare.pairs import list_pair_files, prepare_pairs
from training.runs.prepare.text import name_sources, prepare_text
from training.runs.recipe import Recipe


def check_sources(recipe: Recipe) -> dict[str, str]:
    """Return the name of each source by its name in token shards; none for pairs, which are evaluated together.

    Raises:
        BitcipherError: if a source does not exist.
    """
    if recipe.text_pairs is None:
        return name_sources(recipe.text)
    list_pair_files(recipe.text)
    return {}


def prepare_examples(
    recipe: Recipe, prepared: str, runtime: Runtime, progress: StageProgress, known: Sequence[Source] = ()
) -> str:
    """Return the folder of the tokenizer and token shards of a recipe; see `prepare_text` and `prepare_pairs`."""
    objective = recipe.text_pairs
    if objective is None:
        return prepare_text(recipe.text, prepared, runtime, progress, known)
    return prepare_pairs(recipe, objective, prepared, runtime, progress, known)
