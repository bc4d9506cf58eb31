"""Equal sources give equal bytes, for any runtime, shard size and row ranges."""

import pytest
from builds import OPTIONS, digests, run_build, write_lines
from threadpoolctl import threadpool_limits

from bitcipher.counts import merged_segments
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.embed.embed_counts import embed_build
from pipelines.options import BuildOptions
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress

# Fields that contain generated names and so differ between equal builds.
UNIQUE = ("folder", "vectors_from", "tables", "shards", "segments")


def test_ray_and_in_process_builds_are_equal(ray_cluster, documents, tmp_path, monkeypatch):
    monkeypatch.setattr(merged_segments, "RANGE_ENTRIES", 50_000)  # small enough that several ranges are merged
    files = [write_lines(tmp_path / f"{i}.jsonl", documents[i:]) for i in range(3)]  # of equal size, to be merged
    here = run_build(files, tmp_path / "here")
    monkeypatch.setattr("pipelines.runtime.memory_budget.BYTES_PER_SUMMED_WORD", 1 << 16)  # ranges of 4,000 words
    on_ray = run_build(files, tmp_path / "on_ray", workers=2)
    assert max(len(segment["parts"]) for segment in on_ray["segments"]) > 1
    assert len(here["shards"]) > 2
    assert {name: here[name] for name in here if name not in UNIQUE} == {
        name: on_ray[name] for name in on_ray if name not in UNIQUE
    }
    assert all(here["tables"][name] == on_ray["tables"][name] for name in ("sources", "tasks"))
    assert digests(tmp_path / "here") == digests(tmp_path / "on_ray")


@pytest.mark.parametrize("chosen", [{}, {"mode": "cat"}, {"mode": "sum"}, {"mode": "cat", "log": "counts"}], ids=str)
def test_shards_and_batches_do_not_change_the_bytes(corpus, tmp_path, monkeypatch, chosen):
    options = BuildOptions(tokenizer="whitespace", **chosen)
    whole = run_build([corpus], tmp_path / "whole", options)
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.batch_bytes", 300_000)
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.range_entries", 20_000)
    monkeypatch.setattr("pipelines.runtime.memory_budget.BYTES_PER_MERGED", 1 << 16)  # 20,000 rows and entries
    monkeypatch.setattr("pipelines.runtime.memory_budget.BYTES_PER_SUMMED_WORD", 1 << 17)  # ranges of 2,000 words
    names = ("d.txt.gz", "c.txt", "b.jsonl.gz", "a.jsonl")
    pieces = run_build([corpus / name for name in names], tmp_path / "pieces", options.derive({"shard_mib": 1}))
    assert len(whole["shards"]) == 1 < len(pieces["shards"])
    assert len(pieces["segments"][0]["parts"]) > 3
    assert whole["digests"] == pieces["digests"]
    assert digests(tmp_path / "whole") == digests(tmp_path / "pieces")


def test_threads_do_not_change_the_bytes(documents, tmp_path, monkeypatch):
    files = [write_lines(tmp_path / f"{i}.jsonl", documents[i:300]) for i in range(3)]  # of equal size, to be merged
    run_build(files, tmp_path / "alone")
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.range_entries", 200_000)
    monkeypatch.setattr("pipelines.runtime.memory_budget.BYTES_PER_MERGED", 1 << 13)  # 160,000 rows and entries
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.weighted_entries", 0)  # weights in ranges
    monkeypatch.setattr("pipelines.runtime.memory_budget.BYTES_PER_SUMMED_WORD", 1 << 15)  # ranges of 8,000 words
    threads = run_build(files, tmp_path / "threads", threads=3)
    assert max(len(segment["parts"]) for segment in threads["segments"]) > 1
    assert digests(tmp_path / "alone") == digests(tmp_path / "threads")


def test_threads_of_blas_do_not_change_the_bytes(corpus, tmp_path):
    for number in (1, 2):
        with threadpool_limits(limits=number):
            run_build([corpus], tmp_path / str(number))
    assert digests(tmp_path / "1") == digests(tmp_path / "2")


def test_renamed_and_recompressed_files_give_the_same_bytes(documents, corpus, tmp_path):
    one_file = tmp_path / "all.txt"
    one_file.write_text("\n".join(reversed(documents)))
    run_build([one_file], tmp_path / "one")
    run_build([corpus], tmp_path / "many")
    assert digests(tmp_path / "one") == digests(tmp_path / "many")


@pytest.mark.parametrize(
    "embedding",
    [
        {"mode": "sum", "bits": 60},
        {"mode": "cipher", "noise": "frequency"},
        {"mode": "cat", "window": 2, "log": "counts", "noise": "none"},
        {"window": 2, "vector_size": 30, "context": "window", "spelling_share": 0.3},
    ],
    ids=["sum", "cipher", "cat of smaller radius", "spectral of smaller radius"],
)
def test_embed_equals_a_build_with_the_same_options(corpus, tmp_path, embedding):
    run_build([corpus], tmp_path / "kept")
    with open_runtime(0) as runtime:
        embed_build(str(tmp_path / "kept"), str(tmp_path / "again"), embedding, 600, runtime, StageProgress())
    run_build([corpus], tmp_path / "so", OPTIONS.derive(embedding))
    again, so = CipherVectors.load(tmp_path / "again"), CipherVectors.load(tmp_path / "so")
    assert again.vectors.tobytes() == so.vectors.tobytes()
    assert again.index_to_key == so.index_to_key
