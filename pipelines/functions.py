"""Functions for Python programs, as the commands of the same names: `shard`, `build` and `update`."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.stored_build import Build, open_build
from pipelines.builds import build as builds
from pipelines.ingest.given_documents import FILE_OPTIONS, GivenSources, find_sources, spooling
from pipelines.ingest.recipes import read_recipe
from pipelines.options import BuildOptions, UpdateOptions
from pipelines.runtime.machine_size import threads_of
from pipelines.runtime.open_runtime import open_grouping_runtime, open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Workers
from pipelines.shard.options import RECIPES, ShardOptions
from pipelines.shard.shard_corpus import ShardResult, shard_corpus
from pipelines.store.manifest import read_manifest

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, folder or glob, or several."""

# Tokens that a program gives are taken as they are.
TOKEN_OPTIONS = {"tokenizer": "whitespace", "lowercase": False, "normalization": "none"}


def shard(
    sources: Paths,
    out: str | os.PathLike[str],
    *,
    recipe: str | os.PathLike[str] | None = None,
    replace: bool = False,
    workers: Workers = 0,
    **options: Any,
) -> ShardResult:
    """Clean documents, drop duplicates, and write Parquet document shards, as `bitcipher shard` does.

    Call it again to resume, or to add new sources to the folder.

    Args:
        sources: files, folders or globs, as paths or URIs.
        out: folder of the document shards.
        recipe: YAML file with rules and options, or the name of a recipe, such as "c4"; its `sources` are not used. By
            default, only exact copies of documents are dropped.
        replace: remove the documents of sources that changed or vanished.
        workers: number of Ray workers; 0 runs in process, "auto" uses Ray if there is enough text.
        **options: other options of `bitcipher shard` by name, such as `field`; they take precedence over the recipe.

    Raises:
        BitcipherError: if the sources, an option, the recipe or `out` are not valid.
    """
    values = read_recipe(os.fspath(recipe), RECIPES, ShardOptions)[0] if recipe else {}
    parsed = ShardOptions.parse({**values, **options})
    memory_bytes = parsed.memory_mib << 20
    with StageProgress() as progress, open_grouping_runtime(workers, memory_bytes) as runtime:
        return shard_corpus(_list_paths(sources), os.fspath(out), parsed, runtime, progress, replace=replace)


def build(
    sources: Paths | Iterable[str] | Iterable[list[str]],
    out: str | os.PathLike[str],
    *,
    workers: Workers = 0,
    **options: Any,
) -> Build:
    """Count a corpus and make word vectors, the same bytes as `bitcipher build`.

    Call it again to resume an interrupted build. A finished build is not made again.

    Args:
        sources: a path, URI or glob of files, or several; or an iterable of documents: strings, or lists of tokens,
            which are taken as they are (see `CipherVectors.build`).
        out: folder of the build, a path or URI.
        workers: number of Ray workers; 0 runs in process, "auto" uses Ray if there is enough text.
        **options: options of counting and of vectors, by their names in `bitcipher build`, such as `vector_size`.

    Raises:
        BitcipherError: if the sources, an option or `out` are not valid.
    """
    given = find_sources(sources)
    values = options if given.patterns is not None else _check_options(options, given.are_tokens)
    parsed = BuildOptions.parse(values)
    memory_bytes = parsed.memory_mib << 20
    with (
        _patterns(given, parsed.max_record_mib) as patterns,
        StageProgress() as progress,
        open_runtime(workers, memory_bytes, threads_of(memory_bytes)) as runtime,
    ):
        builds.build(patterns, os.fspath(out), parsed, runtime, progress)
    return open_build(out)


def update(build: str | os.PathLike[str], sources: Paths = (), *, workers: Workers = 0, **options: Any) -> Build:
    """Count the new files of a corpus, and publish a new version, as `bitcipher update` does. Call it again to resume.

    Args:
        build: folder of the build.
        sources: files, folders or globs: the whole corpus, or only new files. Without any, only vectors are made, if
            the newest version has none of its own.
        workers: number of Ray workers; 0 runs in process, "auto" uses Ray if there is enough text.
        **options: options of `bitcipher update` by name, such as `replace` and `max_drift`.

    Returns:
        The newest version, which is the one before if nothing is new.

    Raises:
        BitcipherError: if the build, the sources or an option are not valid, or the drift is above the maximum.
    """
    folder = os.fspath(build)
    parsed = UpdateOptions.parse(options)
    memory_mib = read_manifest(folder).options.memory_mib
    memory_bytes = memory_mib << 20
    with StageProgress() as progress, open_runtime(workers, memory_bytes, threads_of(memory_bytes)) as runtime:
        builds.update(folder, _list_paths(sources), parsed, memory_mib, runtime, progress)
    return open_build(folder)


def _list_paths(paths: Paths) -> list[str]:
    every: Any = [paths] if isinstance(paths, str | os.PathLike) else paths
    if isinstance(every, Iterable) and not isinstance(every, bytes):
        listed = list(every)
        if all(isinstance(path, str | os.PathLike) and os.fspath(path) for path in listed):
            return [os.fspath(path) for path in listed]
    raise BitcipherError(f"`sources` must be a path, a URI or a glob, or several, got {paths!r:.100}.")


@contextmanager
def _patterns(given: GivenSources, max_record_mib: int) -> Iterator[list[str]]:
    if given.patterns is not None:
        yield given.patterns
    else:
        with spooling(given.documents, given.are_tokens, max_record_mib) as path:
            yield [path]


def _check_options(option_values: dict[str, Any], are_tokens: bool) -> dict[str, Any]:
    """Return the options of a build of documents, with the defaults of tokens.

    Raises:
        BitcipherError: if an option is of files, or would split tokens.
    """
    for name in FILE_OPTIONS:
        if name in option_values:
            raise BitcipherError(f"`{name}` is an option of files, and documents are given: leave it out.")
    if are_tokens and option_values.get("tokenizer", "whitespace") != "whitespace":
        raise BitcipherError("Lists of tokens are not tokenized again: leave out `tokenizer`, or give strings.")
    return {**TOKEN_OPTIONS, **option_values} if are_tokens else option_values
