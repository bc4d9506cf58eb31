"""Co-occurrence matrices against counting in plain Python, and their weights against dense matrices."""

import uuid

import numpy as np
import pyarrow as pa
import pytest
from dense_spectra import weight_matrix
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import choose_words, context_matrices
from small_corpora import choices, cut, documents
from written_segments import write_segment

from bitcipher import Build, open_build
from bitcipher.counts import merged_segments
from bitcipher.counts.context_window import ContextWindow
from bitcipher.files import json_files, parquet_files, storage
from bitcipher.versions import WORDS, manifest_uri
from bitcipher.vocabulary import Vocabulary
from pipelines.ingest.content_hash import sha256
from pipelines.store.version_tables import VersionContents

context_windows = st.builds(ContextWindow, st.sampled_from([1, 2, 5]), st.booleans())
corpora = st.tuples(documents.filter(any), choices, st.lists(st.integers(0, 6), max_size=2))


def write_build(shards, context_window, words, total_passages):
    """Publish the counts of shards of documents, without vectors, and return the URI of the build."""
    uri = f"memory://{uuid.uuid4().hex}"
    segments = [write_segment(uri, f"s{i}", shard, context_window) for i, shard in enumerate(shards)]
    names, counts, passages = (list(column) for column in zip(*words, strict=True))
    vocabulary = Vocabulary(pa.array(names, pa.large_string()), counts, passages, total_passages)
    file = f"{uri}/versions/000001-test/{WORDS}"
    parquet_files.write_table(file, vocabulary.to_table())
    manifest = {
        "version": 1,
        "folder": "versions/000001-test",
        "vectors_from": None,
        "options": {"window": context_window.size, "summed": context_window.summed, "mode": "cat"},
        "digests": {"words": sha256(file), "counts": "0" * 32},
        "tables": VersionContents(segments=tuple(segments)).write(f"{uri}/versions/000001-test").to_dict(),
    }
    json_files.write(manifest_uri(uri, 1), manifest)
    return uri


def expected_counts(texts, words, context_window) -> dict[int | None, np.ndarray]:
    """Return the dense counts by offset, and those of the whole window with the key None."""
    matrices = context_matrices(texts, words, context_window.size)
    whole = sum(matrices.values())
    return {None: whole} if context_window.summed else {**matrices, None: whole}


@pytest.fixture(scope="module", autouse=True)
def small_ranges():
    """Make row ranges so small that several ranges are added up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merged_segments, "RANGE_ENTRIES", 20)
        yield


@given(corpora, context_windows, st.data())
@settings(max_examples=60, deadline=None)
def test_matrices_equal_the_reference(corpus, context_window, data):
    texts, choice, positions = corpus
    words, total_passages = choose_words(texts, **choice)
    assume(len(words) > 1)
    shards = [shard for shard in cut(texts, positions) if any(shard)]
    uri = write_build(shards, context_window, words, total_passages)
    build = open_build(uri)
    names = [word.word for word in words]
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    ranks = np.ix_(*[[names.index(word) for word in chosen]] * 2)
    for offset, dense in expected_counts(texts, words, context_window).items():
        counts = build.cooccurrence(offset)
        assert counts.dtype == np.int64
        assert counts.nnz == np.count_nonzero(dense)
        np.testing.assert_array_equal(counts.toarray(), dense)
        np.testing.assert_array_equal(build.cooccurrence(offset, chosen).toarray(), dense[ranks])
        check_weights(build, offset, dense, chosen, ranks)
    storage.remove(uri)


def check_weights(build: Build, offset, dense, chosen, ranks):
    expected = weight_matrix(dense, 1 if offset is None else 0.75)
    weights = build.cooccurrence(offset, weighting="ppmi")
    assert weights.dtype == np.float32
    assert (weights.data > 0).all()
    np.testing.assert_allclose(weights.toarray(), expected, atol=1e-6)
    subset = build.cooccurrence(offset, chosen, "ppmi")
    np.testing.assert_array_equal(subset.toarray(), weights.toarray()[ranks])
