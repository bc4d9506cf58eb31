"""Factorization in ranges of words: the same bytes as in memory, and no temporary files afterwards."""

import numpy as np
import pytest
from builds import run_build, write_lines
from stored_counts import open_counts, segments_of

from bitcipher.counts.context_window import ContextWindow
from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding
from bitcipher.files import storage
from pipelines.embed.spectral import word_ranges
from pipelines.embed.spectral.factorization import factor
from pipelines.embed.spectral.gather_ranges import GatherStage
from pipelines.embed.spectral.word_ranges import CountPaths
from pipelines.embed.stage_runner import stage_runner
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.open_runtime import open_runtime

EMBEDDING = SpectralEmbedding(30, landmarks=200, landmark_contexts=400)


def factor_in_ranges(
    build, work, range_entries, window=4, runtime=None, use_products=None, segments=None, is_one_product=False, **more
):
    """Return the bytes of the factorization, or what `use_products` returns."""
    file, stored = segments_of(build)
    vocabulary = file.read()

    def use(products, blocks):
        if use_products:
            return use_products(products, blocks)
        return bytes_of(EMBEDDING.factor(products, vocabulary, blocks))

    paths, columns = CountPaths(file, segments or stored, str(work)), EMBEDDING.columns(len(vocabulary))
    run = stage_runner(runtime or InProcessRuntime(), **more)
    return factor(paths, vocabulary.words, ContextWindow(window), columns, use, range_entries, 120, run, is_one_product)


def bytes_of(spectrum):
    return spectrum.table.tobytes(), spectrum.basis.directions.tobytes(), spectrum.basis.scaling.tobytes()


@pytest.fixture(scope="module")
def build(corpus, tmp_path_factory):
    """Build with several segments, words outside the vocabulary, and several scripts."""
    target = tmp_path_factory.mktemp("spectral") / "build"
    assert len(run_build([corpus], target)["segments"]) > 1
    return target


@pytest.fixture(scope="module")
def expected(build):
    return bytes_of(EMBEDDING.table(open_counts(build)))


@pytest.mark.parametrize("range_entries", [60_000, 1 << 40])
def test_size_of_ranges_does_not_change_the_bytes(build, expected, tmp_path, range_entries):
    ranges = factor_in_ranges(
        build, tmp_path / "work", range_entries, use_products=lambda products, blocks: len(products._words)
    )
    assert (ranges > 10) == (range_entries == 60_000)
    assert factor_in_ranges(build, tmp_path / "work", range_entries) == expected
    assert storage.list_files(str(tmp_path)) == {}


def test_rows_that_do_not_fit_in_memory_are_added_up_one_by_one(documents, tmp_path, monkeypatch):
    # Each row is read by itself, so the text is short.
    run_build([write_lines(tmp_path / "text.jsonl", documents[:3])], tmp_path / "build")
    expected = bytes_of(EMBEDDING.table(open_counts(tmp_path / "build")))

    def small_stage(**arguments):
        return GatherStage(**arguments | {"range_entries": 100})

    monkeypatch.setattr(word_ranges, "GatherStage", small_stage)
    assert factor_in_ranges(tmp_path / "build", tmp_path / "work", 200_000) == expected


def test_order_and_number_of_segments_do_not_change_the_bytes(build, expected, corpus, tmp_path):
    one = run_build([corpus], tmp_path / "one", BuildOptions(tokenizer="whitespace"))
    assert len(one["segments"]) == 1
    assert factor_in_ranges(tmp_path / "one", tmp_path / "work", 200_000) == expected
    _, segments = segments_of(build)
    assert factor_in_ranges(build, tmp_path / "work", 200_000, segments=segments[::-1]) == expected


def test_smaller_window_gives_the_bytes_of_memory(build, tmp_path):
    factored = factor_in_ranges(build, tmp_path / "work", 200_000, window=2)
    assert factored == bytes_of(EMBEDDING.table(open_counts(build), window=2))


def test_work_folder_in_a_store_gives_the_same_bytes(build, expected):
    work = "memory://spectral-work"
    assert factor_in_ranges(build, work, 100_000) == expected
    assert storage.list_files(work) == {}


def test_ray_workers_give_the_same_bytes(ray_cluster, build, expected, tmp_path):
    output = []
    with open_runtime(2, 600 << 20) as runtime:
        factored = factor_in_ranges(build, tmp_path / "work", 100_000, runtime=runtime, on_result=output.append)
    assert factored == expected
    assert {result.stage for result in output} == {"products"}
    assert storage.list_files(str(tmp_path)) == {}


def test_failed_factorization_leaves_no_files(build, tmp_path):
    class Failing(InProcessRuntime):
        calls = 0

        def stream(self, spec, inputs):
            self.calls += 1
            if self.calls == 9:
                raise KeyboardInterrupt
            return super().stream(spec, inputs)

    with pytest.raises(KeyboardInterrupt):
        factor_in_ranges(build, tmp_path / "work", 100_000, runtime=Failing())
    assert storage.list_files(str(tmp_path)) == {}


def test_products_give_the_bytes_of_memory(build, tmp_path):
    counts = open_counts(build)
    whole = InMemoryProducts.from_counts(counts, 4, EMBEDDING.columns(len(counts.vocabulary)), threads=2)

    def compare(products, blocks):
        seen = []
        rows = (7, len(counts.vocabulary) - 3)
        table = np.random.default_rng(0).normal(size=(400, 16)).astype(np.float32)
        for scales in (np.ones(9, np.float32), np.eye(9, dtype=np.float32)[8]):
            projects = [each.project(table, scales, 200).tobytes() for each in (products, whole)]
            gram_products = [each.gram_product(table[:200], scales).tobytes() for each in (products, whole)]
            extended = [each.extend(table[:200], scales).rows.read(*rows).tobytes() for each in (products, whole)]
            seen += [len(set(projects)), len(set(gram_products)), len(set(extended))]
        return seen

    assert factor_in_ranges(build, tmp_path / "work", 100_000, use_products=compare) == [1] * 6


def test_one_product_gives_the_bytes_of_memory(build, tmp_path):
    counts = open_counts(build)
    whole = InMemoryProducts.from_counts(counts, 4, EMBEDDING.columns(len(counts.vocabulary)), threads=2)
    table = np.random.default_rng(0).normal(size=(200, 16)).astype(np.float32)
    scales = np.ones(9, np.float32)

    def extend(products, blocks):
        extension = products.extend(table, scales)
        rows = extension.rows.read(0, len(counts.vocabulary))
        return rows.tobytes(), [[part.tobytes() for part in extension.contexts[block]] for block in range(blocks)]

    found = factor_in_ranges(build, tmp_path / "work", 100_000, use_products=extend, is_one_product=True)
    assert found == extend(whole, 9)
    assert storage.list_files(str(tmp_path)) == {}
