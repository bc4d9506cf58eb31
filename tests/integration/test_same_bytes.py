"""The same sources give the same bytes, wherever and in whatever pieces they are worked on."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bitcipher.vectors import CipherVectors
from pipelines import folder, reduce
from pipelines.build import build
from pipelines.embed import embed_build
from pipelines.options import BuildOptions, EmbeddingOptions
from pipelines.progress import StageProgress
from pipelines.runtime import open_runtime

OPTIONS = BuildOptions(tokenizer="whitespace", shard_megabytes=1)


def run(patterns: list[str], target: Path, options: BuildOptions = OPTIONS, workers: int = 0) -> dict:
    with StageProgress() as progress, open_runtime(workers) as runtime:
        build(patterns, str(target), options, runtime, progress)
    return json.loads((target / "manifest.json").read_text())


def test_ray_and_this_process_write_the_same_files(ray_cluster, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(reduce, "RANGE_ENTRIES", 50_000)  # so that there is something to merge in pieces
    here = run([str(corpus)], tmp_path / "here")
    on_ray = run([str(corpus)], tmp_path / "on_ray", workers=2)
    assert len(here["shards"]) > 2
    assert len(list((tmp_path / "here" / "pairs").iterdir())) > 6
    assert here == on_ray
    for path in (tmp_path / "here").rglob("*"):
        if path.is_file() and path.name != folder.REPORT:
            assert path.read_bytes() == (tmp_path / "on_ray" / path.relative_to(tmp_path / "here")).read_bytes(), path


@pytest.mark.parametrize("mode", ["cat", "sum"])
def test_shards_and_ranges_leave_no_trace_in_words_and_vectors(corpus, tmp_path, monkeypatch, mode):
    options = BuildOptions(EmbeddingOptions(mode=mode), tokenizer="whitespace")
    whole = run([str(corpus)], tmp_path / "whole", options)
    monkeypatch.setattr(reduce, "RANGE_ENTRIES", 20_000)
    monkeypatch.setattr(reduce, "BLOCK_ENTRIES", 3_000)
    names = ("d.txt.gz", "c.txt", "b.jsonl.gz", "a.jsonl")
    pieces = run([str(corpus / name) for name in names], tmp_path / "pieces", replace(options, shard_megabytes=1))
    assert len(whole["shards"]) == 1 < len(pieces["shards"])
    assert whole["sha256"]["words"] == pieces["sha256"]["words"]
    assert whole["sha256"]["vectors"] == pieces["sha256"]["vectors"]


def test_renamed_and_repacked_files_give_the_same_words_and_vectors(documents, corpus, tmp_path):
    one_file = tmp_path / "all.txt"
    one_file.write_text("\n".join(reversed(documents)))
    assert (
        run([str(one_file)], tmp_path / "one")["sha256"]["vectors"]
        == run([str(corpus)], tmp_path / "many")["sha256"]["vectors"]
    )


@pytest.mark.parametrize(
    "embedding",
    [
        EmbeddingOptions(mode="sum", bits=60),
        EmbeddingOptions(mode="cipher", noise="frequency"),
        EmbeddingOptions(radius=2, log="counts", noise="none"),
    ],
    ids=["sum", "cipher", "smaller radius"],
)
def test_embedding_kept_counts_equals_building_so(corpus, tmp_path, embedding):
    run([str(corpus)], tmp_path / "kept")
    with open_runtime(0) as runtime:
        embed_build(str(tmp_path / "kept"), str(tmp_path / "again"), asdict(embedding), runtime)
    run([str(corpus)], tmp_path / "so", replace(OPTIONS, embedding=embedding))
    again, so = CipherVectors.load(tmp_path / "again"), CipherVectors.load(tmp_path / "so" / "vectors")
    assert again.vectors.tobytes() == so.vectors.tobytes()
    assert again.index_to_key == so.index_to_key
