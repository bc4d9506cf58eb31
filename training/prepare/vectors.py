"""Token shards' text → counts and cipher vectors of the tokenizer's tokens."""

import gzip
from pathlib import Path
from typing import Any

import orjson

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.build.build import build
from pipelines.ingest.content_hash import sha256
from pipelines.ingest.documents import documents_of
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.sources import list_sources
from pipelines.options import BuildOptions, EmbeddingOptions
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from training.data import is_validation, load_tokenizer, vocabulary_size
from training.embeddings import bits_for
from training.prepare.cached_dir import cached_dir
from training.prepare.text import TOKENIZER, share_held_out
from training.recipe import Recipe

BUILD = "build"
TRAINING_TEXT = "training.jsonl.gz"

# Options of a build that are not to be chosen: it counts the run's own text in the run's own tokens.
OF_THE_RUN = {"tokenizer", "min_count", "format", "document", "field"}


def prepare_vectors(
    recipe: Recipe, text: Path, prepared: Path, runtime: Runtime, progress: StageProgress
) -> str | None:
    """The folder of a cipher start's vectors, made now if it is not there; None for a cold start.

    Only documents that are trained on are counted: those held out would tell of themselves.

    Args:
        recipe: of the run.
        text: the folder of its token shards.
        prepared: where such folders are.
        runtime: where text is counted.
        progress: where to show how far it is.

    Raises:
        BitcipherError: if an option of the build does not exist, or cannot be.
    """
    if recipe.embeddings.start == "cold":
        return None
    if recipe.embeddings.vectors is not None:
        # Workers have other working directories.
        return storage.absolute(recipe.embeddings.vectors)
    tokenizer = storage.join(str(text), TOKENIZER)
    given = _as_wide_as_the_table(recipe, tokenizer)
    for name in sorted(OF_THE_RUN & given.keys()):
        raise BitcipherError(f"embeddings.build gives {name}, which follows from the recipe's text: leave it out.")
    # Every token that was counted has a row.
    options = BuildOptions.parse({**given, "tokenizer": tokenizer, "min_count": 1}, "The recipe's embeddings.build")
    depends_on = {**options.to_dict(), "tokenizer": sha256(tokenizer), "text": text.name}

    def make(folder: Path) -> None:
        path = folder / TRAINING_TEXT
        _write_training_text(recipe, path)
        build([str(path)], str(folder / BUILD), options, runtime, progress)
        path.unlink()

    return str(cached_dir(prepared, "vectors", depends_on, make) / BUILD)


def _as_wide_as_the_table(recipe: Recipe, tokenizer: str) -> dict[str, Any]:
    """The recipe's options of a build, with sizes that give the width of the model's table where it gives none."""
    width, given = recipe.model.table_width, recipe.embeddings.build
    if given.get("mode") == "cat" and "bits" not in given:
        words = vocabulary_size(load_tokenizer(tokenizer)) + 1  # and <oov>
        bits, window = bits_for(width, words, given.get("window", EmbeddingOptions().window))
        return {**given, "bits": bits, "window": window}
    return {"bits" if given.get("mode") in ("cat", "sum", "cipher") else "vector_size": width, **given}


def _write_training_text(recipe: Recipe, path: Path) -> None:
    reading = ReadOptions(document=recipe.text.document, field=recipe.text.field)
    # It is read once, at once.
    with gzip.open(path, "wb", compresslevel=1) as lines:
        for source in list_sources(recipe.text.sources, recipe.text.format):
            for document in documents_of(source, reading):
                if not is_validation(document, share_held_out(recipe.text)):
                    lines.write(orjson.dumps({"text": document}) + b"\n")
