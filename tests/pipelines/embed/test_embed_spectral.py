"""Vectors of mode `spectral` from builds and from `embed`."""

import uuid

import numpy as np
import pytest
from builds import OPTIONS, digests, run_build, run_update, write_lines
from threadpoolctl import threadpool_limits

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.versions import manifest_uri, vectors_of
from pipelines.embed.embed_counts import embed, embed_build
from pipelines.embed.stored_counts import StoredCounts
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.store.manifest import read_manifest

TEXTS = ["the cat saw the dog", "the dog saw a cat and a bird", "قلب the dog قلب and the cat"] * 3
FEW = BuildOptions(tokenizer="whitespace", min_count=1, memory_mib=600)


def embedded(build, target, runtime=None, **chosen):
    embed_build(str(build), str(target), chosen, 600, runtime or InProcessRuntime(), StageProgress())
    return CipherVectors.load(target)


@pytest.fixture
def small(tmp_path):
    run_build([write_lines(tmp_path / "small.jsonl", TEXTS)], tmp_path / "small", FEW)
    return tmp_path / "small"


def test_vectors_have_length_one_and_are_saved_with_directions(small):
    vectors = CipherVectors.load(small)
    assert vectors.manifest["embedding"]["mode"] == "spectral"
    assert vectors.vector_size < len(vectors) < 200
    assert vectors.vectors.dtype == np.float32
    directions = vectors.refinement["directions"]
    assert (directions.shape, directions.dtype) == (vectors.vectors.shape, np.float32)
    lengths = dict(zip(vectors.index_to_key, np.linalg.norm(vectors.vectors, axis=1), strict=True))
    assert lengths.pop("<oov>") == 0  # all words of the corpus are in the vocabulary
    np.testing.assert_allclose(list(lengths.values()), 1, rtol=1e-6)
    assert read_manifest(str(small)).vectors.empty_words == 1


def test_vector_size_sets_the_number_of_dimensions(small, tmp_path):
    assert embedded(small, tmp_path / "three", vector_size=3).vector_size == 3


@pytest.mark.parametrize("texts", [["a", "b", "a"], ["a a a a"], ["a b"]])
def test_text_without_pairs_above_chance_raises(tmp_path, texts):
    options = BuildOptions(context="positions", tokenizer="whitespace", min_count=1)
    with pytest.raises(BitcipherError, match="more often than by chance"):
        run_build([write_lines(tmp_path / "t.jsonl", texts)], tmp_path / "built", options)
    assert not storage.exists(manifest_uri(str(tmp_path / "built"), 1))


def test_summed_counts_give_vectors_of_context_window_only(tmp_path):
    source = write_lines(tmp_path / "t.jsonl", TEXTS)
    summed = BuildOptions(window=3, tokenizer="whitespace", min_count=1, summed=True)
    run_build([source], tmp_path / "summed", summed)
    both = CipherVectors.load(tmp_path / "summed")
    context_window = embedded(tmp_path / "summed", tmp_path / "window", context="window")
    np.testing.assert_allclose(np.abs(both.vectors), np.abs(context_window.vectors), atol=1e-3)
    with pytest.raises(BitcipherError, match="context window"):
        embedded(tmp_path / "summed", tmp_path / "positions", context="positions")
    with pytest.raises(BitcipherError, match="window of 2"):
        embedded(tmp_path / "summed", tmp_path / "two", window=2)


def test_window_larger_than_that_of_the_counts_raises(small, tmp_path):
    with pytest.raises(BitcipherError, match="window of 4"):
        embedded(small, tmp_path / "wide", window=5)
    assert not storage.exists(str(tmp_path / "wide"))


def test_ray_and_this_process_give_the_same_bytes(ray_cluster, corpus, tmp_path):
    run_build([corpus], tmp_path / "built")
    here = embedded(tmp_path / "built", tmp_path / "here", vector_size=40)
    with open_runtime(2, 600 << 20) as runtime:
        on_ray = embedded(tmp_path / "built", tmp_path / "ray", runtime, vector_size=40)
    assert here.vectors.tobytes() == on_ray.vectors.tobytes()
    assert here.refinement["directions"].tobytes() == on_ray.refinement["directions"].tobytes()
    assert {path.name for path in tmp_path.iterdir()} == {"built", "here", "ray"}


def test_embedding_by_ranges_gives_the_same_bytes(corpus, tmp_path, monkeypatch):
    run_build([corpus], tmp_path / "built")
    whole = embedded(tmp_path / "built", tmp_path / "whole", vector_size=40)
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.weighted_entries", 0)
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.range_entries", 200_000)
    parts = embedded(tmp_path / "built", tmp_path / "parts", vector_size=40)
    assert whole.vectors.tobytes() == parts.vectors.tobytes()
    assert {path.name for path in tmp_path.iterdir()} == {"built", "whole", "parts"}


def test_build_interrupted_during_factorization_resumes(corpus, tmp_path, monkeypatch):
    run_build([corpus], tmp_path / "whole")
    monkeypatch.setattr("pipelines.runtime.memory_budget.MemoryBudget.weighted_entries", 0)
    with monkeypatch.context() as patched:

        def stop(*arguments):
            raise KeyboardInterrupt

        patched.setattr("pipelines.embed.spectral.range_products.RangeProducts.gram_product", stop)
        with pytest.raises(KeyboardInterrupt):
            run_build([corpus], tmp_path / "stopped")
    left = tmp_path / "stopped" / "work" / uuid.uuid4().hex  # by a killed process
    json_files.write(str(left / "sums.json"), {"a": 1})
    run_build([corpus], tmp_path / "stopped")
    assert digests(tmp_path / "stopped") == digests(tmp_path / "whole")
    assert not any(name.startswith("work/") for name in storage.list_files(str(tmp_path / "stopped")))


def test_update_gives_the_vectors_of_a_build_of_all_sources(documents, tmp_path):
    old, new = (write_lines(tmp_path / f"{name}.jsonl", documents[start::2]) for start, name in enumerate("ab"))
    run_build([old], tmp_path / "grown")
    manifest, _ = run_update(tmp_path / "grown", [new], align="1")
    assert 0 < manifest["drift"]["neighbors"] <= 1
    run_update(tmp_path / "grown", [new])
    run_build([old], tmp_path / "again")
    run_update(tmp_path / "again", [new])
    run_build([old, new], tmp_path / "whole")
    assert digests(tmp_path / "again") == digests(tmp_path / "whole")


def test_options_of_another_mode_raise(small, tmp_path):
    with pytest.raises(BitcipherError, match=r"^`bits` is an option of mode cat, sum or cipher, not of mode spectral"):
        embedded(small, tmp_path / "new", bits=10)
    with pytest.raises(BitcipherError, match="for sum, use `bits`"):
        embedded(small, tmp_path / "new", mode="sum", vector_size=10)
    assert embedded(small, tmp_path / "new", mode="sum", bits=10).vector_size == 10
    options = {"mode", "window", "bits", "noise", "noise_over", "log"}
    assert set(CipherVectors.load(tmp_path / "new").manifest["embedding"]) == options


def test_embed_gives_the_vectors_of_the_build(corpus, tmp_path):
    run_build([corpus / "c.txt"], tmp_path / "built", OPTIONS)
    counts = StoredCounts.of_version(str(tmp_path / "built"), read_manifest(str(tmp_path / "built")))
    with threadpool_limits(2):  # the sums of BLAS depend on its threads, and the build limits them to one
        vectors = embed(counts.open(), OPTIONS.embedding, counts.provenance)
    assert vectors.vectors.tobytes() == CipherVectors.load(tmp_path / "built").vectors.tobytes()


@pytest.fixture
def grown(documents, tmp_path):
    """Sources of two versions, and a build of the first."""
    old, new = (
        write_lines(tmp_path / f"{name}.jsonl", part)
        for name, part in (("old", documents[:100]), ("new", documents[100:110]))
    )
    run_build([old], tmp_path / "build", OPTIONS)
    return tmp_path / "build", old, new


def test_update_in_a_kept_basis_equals_a_build_from_scratch_in_the_same_basis(grown, tmp_path):
    build, old, new = grown
    manifest, _ = run_update(build, [old, new], basis="keep")
    assert manifest["basis"]["version"] == 1
    assert 0 < manifest["basis"]["residual"] < 0.5
    run_build([new, old], tmp_path / "scratch", OPTIONS)
    embed_build(
        str(tmp_path / "scratch"),
        str(tmp_path / "same"),
        {},
        600,
        InProcessRuntime(),
        StageProgress(),
        basis=vectors_of(str(build), 1),
    )
    same, kept = CipherVectors.load(tmp_path / "same"), CipherVectors.load(build)
    assert same.vectors.tobytes() == kept.vectors.tobytes()
    axes = CipherVectors.load(vectors_of(str(build), 1)).manifest["axes"]
    assert same.manifest["axes"] == kept.manifest["axes"] == axes
    assert CipherVectors.load(tmp_path / "scratch").manifest["axes"] != axes
    assert {name: array.tobytes() for name, array in same.refinement.items()} == {
        name: array.tobytes() for name, array in kept.refinement.items()
    }


def test_axes_are_kept_while_they_fit(grown, documents, tmp_path):
    build, old, new = grown
    manifest, _ = run_update(build, [old, new], basis="auto")
    assert manifest["basis"]["version"] == 1
    assert manifest["drift"]["vector_moves"]["median"] > 0.9
    other = write_lines(tmp_path / "other.jsonl", [text[::-1] for text in documents[:400]])
    manifest, _ = run_update(build, [old, new, other], basis="auto")
    assert manifest["basis"]["version"] == 3
    assert manifest["basis"]["residual"] > 0.1
    assert manifest["drift"]["vector_moves"] is None


def test_refreshing_the_axes_needs_no_new_sources(grown, tmp_path):
    build, old, new = grown
    run_update(build, [old, new], basis="keep")
    manifest, _ = run_update(build, [old, new], basis="refresh")
    assert (manifest["version"], manifest["basis"]["version"]) == (3, 3)
    run_build([old, new], tmp_path / "scratch", OPTIONS)
    assert digests(build) == digests(tmp_path / "scratch")
    manifest, _ = run_update(build, [old, new], basis="refresh")
    assert manifest["version"] == 3


def test_axes_of_other_words_are_not_kept(grown, tmp_path):
    build, old, new = grown
    old.unlink()
    write_lines(new, [" ".join(f"{word}x" for word in text.split()) for text in TEXTS])
    sources = [tmp_path / "*.jsonl"]
    with pytest.raises(BitcipherError, match="vocabulary has too few of its words"):
        run_update(build, sources, replace=True, basis="keep")
    manifest, _ = run_update(build, sources, replace=True, basis="auto")
    assert manifest["basis"] == {"version": 2, "residual": 1.0}
    assert np.isfinite(CipherVectors.load(build).vectors).all()


def test_basis_of_another_mode_is_refused(grown, tmp_path):
    build, _, _ = grown
    embedded(build, tmp_path / "sum", mode="sum", bits=20)
    with pytest.raises(BitcipherError, match="has no basis to keep"):
        embed_build(
            str(build), str(tmp_path / "x"), {}, 600, InProcessRuntime(), StageProgress(), basis=str(tmp_path / "sum")
        )
    with pytest.raises(BitcipherError, match="option of mode spectral, not of mode cat"):
        embed_build(
            str(build), str(tmp_path / "x"), {"mode": "cat"}, 600, InProcessRuntime(), StageProgress(), basis="1"
        )
    assert not (tmp_path / "x").exists()
    source = write_lines(tmp_path / "cat.jsonl", TEXTS)
    run_build([source], tmp_path / "cat", FEW.derive({"mode": "cat", "bits": 10}))
    with pytest.raises(BitcipherError, match="has mode cat"):
        run_update(tmp_path / "cat", [source], basis="keep")
