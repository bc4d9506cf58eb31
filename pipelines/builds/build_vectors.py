"""`build_vectors`: a build in Python, from files or documents, which `CipherVectors.build` calls."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.table.vector_folder import read_folder
from bitcipher.table.vector_table import VectorTable
from bitcipher.versions import vectors_of
from pipelines.builds.build import build
from pipelines.ingest.given_documents import FILE_OPTIONS, GivenSources, find_sources, spooling
from pipelines.options import BuildOptions
from pipelines.runtime.machine_size import threads_of
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Workers

# Tokens that a program gives are taken as they are.
TOKEN_OPTIONS = {"tokenizer": "whitespace", "lowercase": False, "normalization": "none"}


def build_vectors(
    sentences_or_paths: Any, out: str | os.PathLike[str] | None, workers: Workers, option_values: dict[str, Any]
) -> VectorTable:
    """Count a corpus, make word vectors, and return them.

    Args:
        sentences_or_paths: see `find_sources`.
        out: folder of the build, a path or URI; None for a temporary folder, whose vectors are read into memory.
        workers: number of Ray workers; 0 runs in process, with a thread per core.
        option_values: options of `bitcipher build` by name.

    Raises:
        BitcipherError: if sources, options or the folder are not valid.
    """
    given = find_sources(sentences_or_paths)
    if given.patterns is None:
        option_values = _check_options(option_values, given.are_tokens)
    options = BuildOptions.parse(option_values)
    with _folder(out) as folder, _patterns(given, options.max_record_mib) as patterns:
        memory_bytes = options.memory_mib << 20
        with StageProgress() as progress, open_runtime(workers, memory_bytes, threads_of(memory_bytes)) as runtime:
            build(patterns, folder, options, runtime, progress)
        return read_folder(vectors_of(folder), mmap=out is not None)


@contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[str]:
    if out is not None:
        yield os.fspath(out)
    else:
        with TemporaryDirectory(prefix="bitcipher-build-") as folder:
            yield storage.join(folder, "build")


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
