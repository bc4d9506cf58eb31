"""Inputs of a pre-training run: the files that its recipe names, with their digests."""

from collections.abc import Iterable, Sequence

from pipelines.embed.embed_counts import EMBEDDING_VERSION
from pipelines.ingest.content_hash import hash_sources
from pipelines.ingest.sources import Source
from pipelines.runtime.runtime import Runtime
from pipelines.store.fingerprint import COUNTS_VERSION
from pipelines.store.recorded_inputs import GivenInputs, InputFile, ListFiles, digest_files, files_of
from training.data.table_rows import list_tables
from training.loop.checkpoint_folders import resolve_model_folder
from training.models.embeddings.vector_inputs import vectors_listing
from training.models.model_folder import list_model_files
from training.runs.prepare.pairs import PAIRS_VERSION
from training.runs.prepare.text import TEXT_VERSION, list_text
from training.runs.recipe import Recipe

# Increase this number when the same recipe and text give another model. A test compares the losses of small runs, and
# fails after such a change.
TRAINING_VERSION = 1


class RecipeInputs(GivenInputs):
    """Files that a recipe names, and the hashed sources among them.

    Args:
        recipe: options of the run, from `with_tokenizer_of_checkpoint`.
        runtime: runtime that hashes the sources when they are first needed.
    """

    def __init__(self, recipe: Recipe, runtime: Runtime):
        self.sources: list[Source] = []
        """Hashed sources that have been listed. `prepare_examples` does not read them again to hash them."""
        self._recipe = recipe
        self._runtime = runtime
        text, embeddings, checkpoint = recipe.text, recipe.embeddings, recipe.model.checkpoint
        stages = {"training": TRAINING_VERSION}
        stages |= {"text": TEXT_VERSION} if recipe.text_pairs is None else {"pairs": PAIRS_VERSION}
        listings: dict[str, ListFiles] = {"text.sources": lambda: self._hash(text.sources)}
        if text.validation_sources:
            listings["text.validation_sources"] = lambda: self._hash(text.validation_sources)
        if (tokenizer := text.tokenizer.path) is not None:
            listings["text.tokenizer.path"] = lambda: digest_files([tokenizer])
        if checkpoint is not None:
            listings["model.checkpoint"] = lambda: digest_files(list_model_files(resolve_model_folder(checkpoint)))
        if embeddings.vectors is not None:
            listings["embeddings.vectors"] = vectors_listing(embeddings.vectors)
        elif embeddings.init == "cipher":
            stages |= {"counts": COUNTS_VERSION, "vectors": EMBEDDING_VERSION}
        super().__init__(stages, listings)

    def _hash(self, patterns: Sequence[str]) -> list[InputFile]:
        text = self._recipe.text
        is_text = self._recipe.text_pairs is None
        listed = list_text(text, patterns) if is_text else list_tables(patterns, text.list_protocols)
        hashed = hash_sources(listed, self.sources, self._runtime)
        self.sources += hashed
        return files_of(hashed)


def inputs_of_recipes(recipes: Iterable[Recipe], runtime: Runtime) -> list[RecipeInputs]:
    """Return the inputs of each recipe. Recipes that name the same files share them, so that they are read once."""
    shared: dict[str, RecipeInputs] = {}
    inputs = []
    for recipe in recipes:
        embeddings = recipe.embeddings
        named = (recipe.text, recipe.text_pairs, recipe.model.checkpoint, embeddings.init, embeddings.vectors)
        inputs.append(shared.setdefault(repr(named), RecipeInputs(recipe, runtime)))
    return inputs
