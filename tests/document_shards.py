"""Folders of document shards, made in process, and their content."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.runtime.open_runtime import open_grouping_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Workers
from pipelines.shard.options import ShardOptions
from pipelines.shard.shard_corpus import ShardResult, shard_corpus


def make_shards(out: Path, *sources: Path | str, workers: Workers = 0, replace: bool = False, **options) -> ShardResult:
    """Run `shard_corpus` with options as in a recipe."""
    parsed = ShardOptions.parse({"memory_mib": 600, **options})
    with StageProgress() as progress, open_grouping_runtime(workers, 300 << 20) as runtime:
        return shard_corpus([str(source) for source in sources], str(out), parsed, runtime, progress, replace=replace)


def read_documents(folder: Path) -> pa.Table:
    """Return all documents of a folder, in the order of its files."""
    return pa.concat_tables([pq.read_table(path) for path in sorted((folder / "documents").iterdir())])


def texts_in(folder: Path) -> list[str]:
    """Return the texts of all documents, sorted."""
    return sorted(read_documents(folder)["text"].to_pylist())


def content_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by name, without the lease."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    names = {str(path.relative_to(folder)): path for path in paths}
    return {name: path.read_bytes() for name, path in sorted(names.items()) if not name.startswith("lease/")}


def write_lines(path: Path, *texts: str, **details: str) -> Path:
    """Write JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"text": text, **details}) + "\n" for text in texts), "utf-8")
    return path
