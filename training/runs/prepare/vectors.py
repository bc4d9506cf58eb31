"""Preparation of vectors: counts and cipher vectors of the tokens of a run's text."""

from collections.abc import Sequence
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.versions import VECTORS, versions
from pipelines.builds.build import build
from pipelines.embed.embed_counts import EMBEDDING_VERSION, embed_build
from pipelines.ingest.content_hash import hash_sources, sha256
from pipelines.ingest.held_out import HeldOut
from pipelines.ingest.read_options import ReadOptions
from pipelines.options import SPECTRAL, BuildOptions, CountOptions, EmbeddingOptions
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from pipelines.store.fingerprint import COUNTS_VERSION
from pipelines.store.stored_versions import StoredVersions
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.data.held_out import HELD_OUT
from training.models.embeddings.embedding_table import cat_bits_and_window
from training.runs.prepare.cached_dir import INPUTS as CACHED_INPUTS
from training.runs.prepare.cached_dir import cached_dir
from training.runs.prepare.pairs import documents_of_pairs
from training.runs.prepare.text import TOKENIZER, effective_validation_fraction, list_text, reading_options
from training.runs.recipe import Recipe, TextOptions

BUILD = "build"
# Inputs of the vectors, written when they are complete.
INPUTS = "vectors.json"

# Options of a build that follow from the recipe: the build counts the text of the run in tokens of its tokenizer.
DERIVED_OPTIONS = {"tokenizer", "min_count", *ReadOptions.model_fields}
# Options that determine the counts. Vectors with other options, such as their size, are made from the same counts.
COUNTING_OPTIONS = {"window", *CountOptions.model_fields, *ReadOptions.model_fields}


def prepare_vectors(recipe: Recipe, text: str, prepared: str, runtime: Runtime, progress: StageProgress) -> str | None:
    """Return the folder of the vectors of a cipher init, and create it if it does not exist; None for random init.

    Only the training split is counted, so the vectors contain no information about the validation split. A file that
    occurs twice in the sources is counted once. The text is counted once for vectors of all sizes.

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
    if recipe.text_pairs is not None:
        recipe = recipe.copy_with(text=documents_of_pairs(recipe.text, text))
    tokenizer = storage.join(text, TOKENIZER)
    values = _with_defaults(recipe, tokenizer)
    for name in sorted(DERIVED_OPTIONS & values.keys()):
        raise BitcipherError(f"`embeddings.build.{name}` follows from the text of the recipe; leave it out.")
    # With a minimum count of 1, every token that occurs has a vector.
    options = BuildOptions.parse(
        {**values, **reading_options(recipe.text).to_dict(), "tokenizer": tokenizer, "min_count": 1},
        "The recipe",
        lambda path: ".".join(map(str, ("embeddings.build", *path))),
    )
    counts = _prepare_counts(recipe.text, options, text, prepared, runtime, progress)
    embedding = options.embedding.to_dict()
    inputs = {"version": EMBEDDING_VERSION, "counts": counts.rpartition("/")[2], "embedding": embedding}

    def make(folder: str) -> None:
        target = storage.join(folder, VECTORS)
        storage.remove(target)  # of a store, where an interrupted job has copied a part of it
        embed_build(storage.join(counts, BUILD), target, embedding, options.memory_mib, runtime, progress)
        json_files.write(storage.join(folder, INPUTS), inputs)

    folder = cached_dir(prepared, "vectors", inputs, make, lambda uri: storage.exists(storage.join(uri, INPUTS)))
    return storage.join(folder, VECTORS)


def _prepare_counts(
    recipe: TextOptions, options: BuildOptions, text: str, prepared: str, runtime: Runtime, progress: StageProgress
) -> str:
    """Return the folder of a build without vectors that counts the training split, and create it if it does not exist.

    Args:
        recipe: sources and validation split.
        options: options of the vectors, of which those in `COUNTING_OPTIONS` are used.
        text: folder of the token shards, with the digests of held-out documents.
        prepared: path or URI of the folder of the cached folders.
        runtime: runtime that counts the text.
        progress: progress bars.
    """
    values = {name: value for name, value in options.to_dict().items() if name in COUNTING_OPTIONS}
    inputs = {"version": COUNTS_VERSION, **values}
    inputs |= {"tokenizer": sha256(options.tokenizer), "text": text.rpartition("/")[2]}
    held_out = HeldOut(storage.join(text, HELD_OUT), effective_validation_fraction(recipe))
    counting = BuildOptions.parse({**values, "format": recipe.format, "list_protocols": recipe.list_protocols})

    def make(folder: str) -> None:
        target = storage.join(folder, BUILD)
        packed = _packed_contents(text)
        patterns = recipe.sources if packed is None else _list_packed(recipe, packed, runtime)
        build(patterns, target, counting, runtime, progress, vectors="later", held_out=held_out)
        if packed is not None and packed != {source.sha256 for source in StoredVersions(target).find().sources}:
            raise _changed_sources()

    return cached_dir(prepared, "counts", inputs, make, lambda folder: bool(versions(storage.join(folder, BUILD))))


def _packed_contents(text: str) -> set[str] | None:
    """Return the hashes of the sources of token shards, or None if they are pairs, whose texts are in their folder.

    Token shards of earlier versions have no record of them.
    """
    uri = storage.join(text, CACHED_INPUTS)
    contents = json_files.read(uri) if storage.exists(uri) else {}
    return {digest for digest, _ in contents["sources"]} if "reading" in contents else None


def _list_packed(recipe: TextOptions, packed: set[str], runtime: Runtime) -> Sequence[str]:
    """Return the patterns of the sources of token shards, or their URIs if sources were added since.

    Raises:
        BitcipherError: if a source is gone, or has changed.
    """
    sources = hash_sources(list_text(recipe, recipe.sources), [], runtime)
    if not packed <= {source.sha256 for source in sources}:
        raise _changed_sources()
    kept = [source.read_uri for source in sources if source.sha256 in packed]
    return recipe.sources if len(kept) == len(sources) else kept


def _changed_sources() -> BitcipherError:
    return BitcipherError(
        "Files of `text.sources` changed while they were read: run the same command again when they are complete."
    )


def _with_defaults(recipe: Recipe, tokenizer: str) -> dict[str, Any]:
    """Return the build options, with sizes that match the width of the model's embeddings if they are not set.

    Tokens have vectors of their contexts alone unless the recipe says otherwise: many are parts of words, whose n-grams
    say little, and the inits of docs/training-results.md were measured without them.
    """
    width, values = recipe.model.embedding_dim, recipe.embeddings.build
    if values.get("mode") == "cat" and "bits" not in values:
        n_words = vocab_size(load_tokenizer(tokenizer)) + 1  # all tokens, and <oov>
        bits, window = cat_bits_and_window(width, n_words, values.get("window", EmbeddingOptions().window))
        return {**values, "bits": bits, "window": window}
    if values.get("mode", SPECTRAL) == SPECTRAL:
        return {"vector_size": width, "spelling_share": 0, **values}
    return {"bits": width, **values}
