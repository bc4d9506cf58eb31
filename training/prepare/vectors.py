"""Preparation of vectors: counts and cipher vectors of the tokens of a run's text."""

import gzip
from typing import Any

import numpy as np
import orjson

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.versions import versions
from pipelines.build.build import build
from pipelines.ingest.content_hash import sha256
from pipelines.ingest.documents import read_documents
from pipelines.ingest.read_options import MAX_RECORD_MIB, ReadOptions
from pipelines.ingest.sources import list_sources
from pipelines.options import SPECTRAL, BuildOptions, EmbeddingOptions
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from training.data import drop_held_out, is_validation, load_tokenizer, read_held_out, vocab_size
from training.embeddings import cat_bits_and_window
from training.prepare.cached_dir import cached_dir
from training.prepare.text import TOKENIZER, effective_validation_fraction
from training.recipe import Recipe

BUILD = "build"
TRAINING_TEXT = "training.jsonl.gz"

# Options of a build that follow from the recipe: the build counts the text of the run in tokens of its tokenizer.
DERIVED_OPTIONS = {"tokenizer", "min_count", *ReadOptions.model_fields}


def prepare_vectors(recipe: Recipe, text: str, prepared: str, runtime: Runtime, progress: StageProgress) -> str | None:
    """Return the folder of the vectors of a cipher init, and create it if it does not exist; None for random init.

    Only the training split is counted, so the vectors contain no information about the validation split.

    Args:
        recipe: options of the run.
        text: folder of the token shards of the recipe's text.
        prepared: path or URI of the folder of the cached folders.
        runtime: runtime that counts the text; the result does not depend on it.
        progress: progress bars.

    Raises:
        BitcipherError: if an option of the build does not exist or is invalid.
    """
    if recipe.embeddings.init == "random":
        return None
    if recipe.embeddings.vectors is not None:
        # Workers have other working directories.
        return storage.absolute(recipe.embeddings.vectors)
    tokenizer = storage.join(text, TOKENIZER)
    values = _with_defaults(recipe, tokenizer)
    for name in sorted(DERIVED_OPTIONS & values.keys()):
        raise BitcipherError(f"`embeddings.build.{name}` follows from the text of the recipe; leave it out.")
    # With a minimum count of 1, every token that occurs has a vector. No document that the run reads is too large.
    options = BuildOptions.parse(
        {**values, "tokenizer": tokenizer, "min_count": 1, "max_record_mib": MAX_RECORD_MIB},
        "The recipe",
        lambda path: ".".join(map(str, ("embeddings.build", *path))),
    )
    inputs = {**options.to_dict(), "tokenizer": sha256(tokenizer), "text": text.rpartition("/")[2]}

    def make(folder: str) -> None:
        path = storage.join(folder, TRAINING_TEXT)
        _write_training_text(recipe, read_held_out(text), path)
        build([path], storage.join(folder, BUILD), options, runtime, progress)
        storage.remove(path)

    return storage.join(cached_dir(prepared, "vectors", inputs, make, _has_vectors), BUILD)


def _has_vectors(folder: str) -> bool:
    return bool(versions(storage.join(folder, BUILD)))


def _with_defaults(recipe: Recipe, tokenizer: str) -> dict[str, Any]:
    """Return the build options, with sizes that match the width of the model's embeddings if they are not set.

    Tokens have vectors of their contexts alone unless the recipe says otherwise: many are parts of words, whose n-grams
    say little, and the inits of README.md were measured without them.
    """
    width, values = recipe.model.embedding_dim, recipe.embeddings.build
    if values.get("mode") == "cat" and "bits" not in values:
        n_words = vocab_size(load_tokenizer(tokenizer)) + 1  # all tokens, and <oov>
        bits, window = cat_bits_and_window(width, n_words, values.get("window", EmbeddingOptions().window))
        return {**values, "bits": bits, "window": window}
    if values.get("mode", SPECTRAL) == SPECTRAL:
        return {"vector_size": width, "spelling_share": 0, **values}
    return {"bits": width, **values}


def _write_training_text(recipe: Recipe, held_out: np.ndarray, uri: str) -> None:
    fraction = effective_validation_fraction(recipe.text)
    # Fast compression: the file is read only once. Without a time, the same text gives the same bytes.
    with (
        storage.writing(uri, durable=False) as stream,
        gzip.GzipFile(fileobj=stream, filename="", mode="wb", compresslevel=1, mtime=0) as lines,
    ):
        for source in list_sources(recipe.text.sources, recipe.text.format):
            for document in drop_held_out(read_documents(source, recipe.text), held_out):
                if not is_validation(document, fraction):
                    lines.write(orjson.dumps({"text": document}) + b"\n")
