"""Vectors made in ranges of words, in blocks of rows and in several files: the same bytes as in memory."""

import numpy as np
import pytest
from builds import OPTIONS, run_build, run_update, write_lines
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.embedding import row_blocks
from bitcipher.embedding.row_blocks import ArrayRows, finished_rows, finished_table, sum_rows, take_rows
from bitcipher.files import storage
from bitcipher.table import vector_files
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.embed.embed_counts import embed_build
from pipelines.embed.spectral import stored_rows
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.store.manifest import read_manifest

SPECTRAL = {"mode": "spectral", "vector_size": 24, "landmarks": 100, "landmark_contexts": 200}


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 64 rows, sums over groups of 128 rows, and files of about 100 rows with 32 dimensions."""
    monkeypatch.setattr(row_blocks, "BLOCK_ROWS", 64)
    monkeypatch.setattr(row_blocks, "READ_BYTES", 1 << 15)
    for module in (row_blocks, stored_rows):
        monkeypatch.setattr(module, "SUM_ROWS", 128)
    monkeypatch.setattr(vector_files, "PAGE_BYTES", 1 << 12)
    monkeypatch.setattr(vector_files, "MAX_FILE_BYTES", 1 << 14)


def use_ranges(monkeypatch, entries):
    """Limit memory so that tables are made in ranges with a given number of pairs."""
    monkeypatch.setattr("pipelines.embed.embed_counts.EmbedStage", None)
    monkeypatch.setattr("pipelines.embed.spectral_vectors.InMemoryProducts", None)
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.weighted_entries", 0)
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.free_bytes", 0)
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.range_entries", entries)


def embedded(build, target, options, basis=None, runtime=None):
    """Return the files of vectors that `embed` writes."""
    runtime = runtime or InProcessRuntime(2)
    sizes = embed_build(str(build), str(target), options, 600, runtime, StageProgress(), basis=basis)
    vectors = CipherVectors.load(target, verify=True)
    assert (sizes.words, sizes.dimensions) == vectors.vectors.shape
    assert sizes.empty_words == np.count_nonzero(~vectors.vectors.any(axis=1))
    return {path.name: path.read_bytes() for path in target.iterdir()}


@pytest.fixture(scope="module")
def build(corpus, tmp_path_factory):
    target = tmp_path_factory.mktemp("ranges") / "build"
    assert len(run_build([corpus], target)["segments"]) > 1
    return target


@pytest.fixture(scope="module")
def summed(corpus, tmp_path_factory):
    target = tmp_path_factory.mktemp("summed") / "build"
    run_build([corpus], target, BuildOptions(tokenizer="whitespace", summed=True, window=2))
    return target


@pytest.mark.parametrize("entries", [30_000, 1 << 40])
@pytest.mark.parametrize(
    "options",
    [
        SPECTRAL,
        {**SPECTRAL, "window": 2, "context": "window"},
        {**SPECTRAL, "spelling_share": 0},
        {"mode": "cat", "bits": 12},
        {"mode": "cat", "bits": 12, "window": 2, "log": "counts", "noise": "frequency"},
        {"mode": "sum", "bits": 20, "log": "none", "noise": "none"},
        {"mode": "sum", "bits": 20, "log": "counts"},
        {"mode": "cipher", "bits": 30, "noise": "document_ratio"},
    ],
    ids=str,
)
def test_ranges_give_the_files_of_memory(build, tmp_path, monkeypatch, small_blocks, options, entries):
    whole = embedded(build, tmp_path / "whole", options)
    assert len(whole) > 6
    use_ranges(monkeypatch, entries)
    assert embedded(build, tmp_path / "ranges", options) == whole
    assert {path.name for path in tmp_path.iterdir()} == {"whole", "ranges"}


@pytest.mark.parametrize("log", ["aggregate", "counts", "none"])
def test_summed_counts_give_the_files_of_memory(summed, tmp_path, monkeypatch, small_blocks, log):
    options = {"mode": "sum", "bits": 20, "window": 2, "log": log}
    whole = embedded(summed, tmp_path / "whole", options)
    use_ranges(monkeypatch, 20_000)
    assert embedded(summed, tmp_path / "ranges", options) == whole


@pytest.mark.parametrize("options", [SPECTRAL, {**SPECTRAL, "spelling_share": 0}, {"mode": "cat", "bits": 12}], ids=str)
def test_ray_workers_give_the_files_of_memory(ray_cluster, build, tmp_path, monkeypatch, options):
    whole = embedded(build, tmp_path / "whole", options)
    use_ranges(monkeypatch, 60_000)
    with open_runtime(2, 600 << 20) as runtime:
        assert embedded(build, tmp_path / "ray", options, runtime=runtime) == whole


def test_kept_and_rotated_bases_give_the_files_of_memory(documents, tmp_path, monkeypatch, small_blocks):
    old, new = (
        write_lines(tmp_path / f"{name}.jsonl", part)
        for name, part in (("old", documents[:100]), ("new", [text[::-1] for text in documents[:300]]))
    )
    other = write_lines(tmp_path / "other.jsonl", documents[100:115])
    contents = []
    for entries in (None, 30_000):
        with monkeypatch.context() as patch:
            if entries:
                use_ranges(patch, entries)
            target = tmp_path / f"build-{entries}"
            run_build([old], target, OPTIONS)
            run_update(target, [other], basis="keep")
            run_update(target, [new], basis="auto")
        manifests = [read_manifest(str(target), version) for version in (1, 2, 3)]
        assert [manifest.basis.version for manifest in manifests] == [1, 1, 3]
        folders = [target / manifest.folder / "vectors" for manifest in manifests]
        contents.append([{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders])
        assert not (target / "work").exists()
    assert contents[0] == contents[1]


def test_failure_leaves_no_files(build, tmp_path, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    use_ranges(monkeypatch, 60_000)
    monkeypatch.setattr("pipelines.embed.write_vectors.complete_folder", stop)
    for options in (SPECTRAL, {"mode": "cat", "bits": 12}):
        with pytest.raises(KeyboardInterrupt):
            embedded(build, tmp_path / "target", options)
        assert storage.list_files(str(tmp_path), unfinished=True) == {}


@given(st.integers(1, 60), st.integers(1, 7), st.integers(1, 4), st.data())
@settings(max_examples=60, deadline=None)
def test_parts_of_a_table_equal_the_whole(rows, block_rows, group_blocks, data):
    table = np.random.default_rng(rows).normal(size=(rows, 3)).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "BLOCK_ROWS", block_rows)
        patch.setattr(row_blocks, "READ_BYTES", 100)
        for module in (row_blocks, stored_rows):
            patch.setattr(module, "SUM_ROWS", block_rows * group_blocks)
        owners = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=rows, max_size=rows)))
        files = []
        for owner in range(4):
            ranks = np.flatnonzero(owners == owner).astype(np.int32)
            uri = f"memory://stored-rows/{owner}"
            files.append(stored_rows.write_ranked(uri, ranks, table[ranks], rows))
        stored = stored_rows.StoredRows(table.shape, "float32", files)
        table[owners == -1] = 0
        start, stop = sorted(data.draw(st.tuples(st.integers(0, rows), st.integers(0, rows))))
        assert stored.read(start, stop).tobytes() == table[start:stop].tobytes()

        def blockwise(block):
            return np.cumsum(block, axis=0)

        expected = finished_table(ArrayRows(table), blockwise)
        found = list(finished_rows(stored, blockwise, start, stop))
        assert np.vstack([*found, table[:0]]).tobytes() == expected[start:stop].tobytes()
        sums = [sum_rows(source, lambda block: block.sum(axis=0)).tobytes() for source in (stored, ArrayRows(table))]
        assert sums[0] == sums[1]
        chosen = np.unique(np.array(data.draw(st.lists(st.integers(0, rows - 1))), np.int64))
        assert take_rows(stored, chosen).tobytes() == table[chosen].tobytes()
