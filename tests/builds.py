"""Builds for tests, made in process or on Ray, and digests to compare them."""

import hashlib
import json
import re
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bitcipher.counts.merged_segments import open_merged
from bitcipher.files import json_files, storage
from bitcipher.version_manifest import VectorsReference
from bitcipher.versions import WORDS, manifest_uri
from pipelines.builds.build import build, update
from pipelines.embed.stored_counts import StoredCounts
from pipelines.ingest.record_counts import RecordCounts
from pipelines.ingest.source_changes import SourceChanges
from pipelines.options import BuildOptions, UpdateOptions
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime, Workers
from pipelines.store.manifest import BuildManifest, VectorSizes, VersionDigests, read_manifest
from pipelines.store.stored_versions import StoredVersion, StoredVersions
from pipelines.store.version_tables import KINDS, VersionContents

# A small size, because the factorization takes most of the time of a small build.
OPTIONS = BuildOptions(tokenizer="whitespace", vector_size=50, shard_mib=1, memory_mib=600)
# Options of an update whose vectors are those of a build from scratch.
FRESH = ("--basis", "refresh")


@dataclass(frozen=True)
class Digests:
    """SHA-256 digests of everything that must match between equal builds."""

    words: str
    counts: str
    vectors: str


def run_build(
    patterns: Iterable[object],
    target: object,
    options: BuildOptions = OPTIONS,
    workers: Workers = 0,
    vectors: Literal["now", "later"] = "now",
    threads: int = 1,
    runtime: Runtime | None = None,
) -> dict:
    """Make a build, on an open runtime if one is given, and return its manifest and its tables."""
    opened = nullcontext(runtime) if runtime else open_runtime(workers, options.memory_mib << 20, threads)
    with StageProgress() as progress, opened as used:
        build(list(map(str, patterns)), str(target), options, used, progress, vectors)
    return describe(StoredVersions(str(target)).find())


def run_update(
    target: object, patterns: Iterable[object], workers: int = 0, runtime: Runtime | None = None, **chosen: Any
) -> tuple[dict, SourceChanges]:
    """Update a build with new axes, as a build from scratch has; return its manifest and tables, and the changes."""
    if chosen.get("vectors") != "later":
        chosen = {"basis": "refresh", **chosen}
    opened = nullcontext(runtime) if runtime else open_runtime(workers, 600 << 20)
    with StageProgress() as progress, opened as used:
        options = UpdateOptions(**chosen)
        manifest, changes = update(str(target), list(map(str, patterns)), options, 600, used, progress)
    return describe(StoredVersions(str(target)).find(manifest.version)), changes


def describe(version: StoredVersion) -> dict[str, Any]:
    """Return the manifest of a version, and the rows of its tables by name."""
    tables = {name: [record.to_dict() for record in version.table(name)] for name in KINDS}
    return {**version.manifest.to_dict(), **tables}


def digests(target: object, version: int | None = None) -> Digests:
    """Return the digests of a version: words, vectors, and the merged counts in canonical order."""
    build = str(target)
    manifest = read_manifest(build, version)
    words = storage.read_bytes(manifest.file(build, WORDS))
    vectors = hashlib.sha256()
    folder_of_vectors = manifest.vectors_folder(build)
    for name in filter(re.compile(r"(vectors|refinement)\b.*").fullmatch, storage.list_files(folder_of_vectors)):
        vectors.update(storage.read_bytes(storage.join(folder_of_vectors, name)))
    return Digests(hashlib.sha256(words).hexdigest(), _counts_digest(build, manifest), vectors.hexdigest())


def _counts_digest(build: str, manifest: BuildManifest) -> str:
    vocabulary = manifest.vocabulary_file(build).read()
    context_window = manifest.options.context_window
    counts = open_merged(vocabulary, context_window, StoredCounts.of_version(build, manifest).segments)
    columns = list(zip(*counts.rows(context_window.size), strict=True))
    total = hashlib.sha256()
    for column in columns:
        total.update(np.concatenate(column).tobytes())
    return total.hexdigest()


def write_manifest(target: str, **sizes: int) -> None:
    """Publish a version 1 whose manifest has sizes but whose files are missing."""
    no_sizes = dict.fromkeys(("documents", "text_bytes", "tokens", "vocabulary", "oov_tokens"), 0)
    manifest = BuildManifest(
        version=1,
        folder="versions/000001-test",
        vectors_from=VectorsReference(version=1, folder="versions/000001-test/vectors"),
        bitcipher="test",
        options=OPTIONS,
        fingerprint={},
        aligned=None,
        **{**no_sizes, **sizes},
        records=RecordCounts(),
        tables=VersionContents().write(storage.join(target, "versions/000001-test")),
        digests=VersionDigests(words="", counts="", vectors=""),
        vectors=VectorSizes(words=0, dimensions=0, empty_words=0),
        basis=None,
        drift=None,
        drift_from=None,
    )
    json_files.write(manifest_uri(target, 1), manifest.to_dict())


def write_lines(path: Path, texts: Iterable[str]) -> Path:
    """Write a file of JSON lines."""
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path
