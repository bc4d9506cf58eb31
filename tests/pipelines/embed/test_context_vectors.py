"""Context vectors that are stored with vectors of mode spectral, the index of rows, and answers from both."""

import numpy as np
import pytest
from builds import OPTIONS, run_build, run_update, write_lines

from bitcipher import BitcipherError, CipherVectors, open_build
from bitcipher.explain.explainer import Explainer, explain
from bitcipher.files import json_files, storage
from bitcipher.infer.inference import infer
from bitcipher.rows.context_vectors import ContextVectors
from bitcipher.rows.symmetric_counts import stream_marginals
from pipelines.embed.embed_counts import embed_build
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.verify.verify import verify

# Mode spectral rounds the tables that it multiplies by to 16 bits.
ROUNDING = 2e-4

EMBEDDINGS = [
    {"vector_size": 24},  # all words are landmarks
    {"vector_size": 24, "landmarks": 100, "landmark_contexts": 200},
    {"vector_size": 24, "landmarks": 100, "landmark_contexts": 200, "spelling_share": 0},
    {"vector_size": 24, "landmarks": 100, "landmark_contexts": 200, "context": "positions", "window": 2},
    {"vector_size": 24, "landmarks": 100, "landmark_contexts": 200, "context": "window"},
]


@pytest.fixture(scope="module")
def build(corpus, tmp_path_factory):
    target = tmp_path_factory.mktemp("contexts") / "build"
    run_build([corpus], target)
    return target


def embed(build, target, options, basis=None):
    embed_build(str(build), str(target), options, 600, InProcessRuntime(2), StageProgress(), basis=basis)
    return target


def assert_same_answers(opened, window):
    """Compare explanations and inference by stored context vectors with those computed from all counts."""
    vectors, counts, stored = opened.vectors, opened.counts_of_vectors, opened.context_vectors
    assert stored.marginals.sums.tobytes() == stream_marginals(counts, window).sums.tobytes()
    words = vectors.index_to_key
    for pair in ((words[3], words[9]), (words[40], "<oov>"), (words[-1], words[0])):
        found, expected = opened.explain(*pair, topn=100_000), explain(vectors, counts, *pair, topn=100_000)
        assert found.similarity == pytest.approx(vectors.similarity(*pair), abs=ROUNDING)
        listed = [*found.contributions, *found.ngrams]
        assert sum(each.weight for each in listed) + found.rest == pytest.approx(found.similarity, abs=1e-12)
        weights = [{each[:2]: each.weight for each in some.contributions} for some in (found, expected)]
        for key in weights[0].keys() | weights[1].keys():
            assert weights[0].get(key, 0) == pytest.approx(weights[1].get(key, 0), abs=ROUNDING)
    sentence = [words[2], "new", words[5], words[30], words[8]]
    by_stored, by_counts = opened.infer([sentence], "new"), infer(vectors, [sentence], "new", counts)
    np.testing.assert_allclose(by_stored, by_counts, atol=ROUNDING)
    explainers = Explainer(vectors, counts, None, stored), Explainer(vectors, counts)
    strongest = [list(explainer.strongest([0, 7, len(words) - 1], 5)) for explainer in explainers]
    for one, other in zip(*strongest, strict=True):
        np.testing.assert_allclose([each.weight for each in one], [each.weight for each in other], atol=ROUNDING)


@pytest.mark.parametrize("options", EMBEDDINGS, ids=str)
def test_answers_are_those_from_all_counts(build, tmp_path, options):
    folder = embed(build, tmp_path / "vectors", options)
    assert_same_answers(open_build(build, vectors=folder), options.get("window", OPTIONS.window))


def test_answers_in_kept_and_in_rotated_axes(tmp_path, documents):
    corpus = [write_lines(tmp_path / f"{part}.jsonl", documents[part::8]) for part in range(2)]
    target = tmp_path / "build"
    run_build(corpus[:1], target, BuildOptions(**{**OPTIONS.to_dict(), "landmarks": 100, "landmark_contexts": 200}))
    for basis in ("keep", "refresh"):
        run_update(target, corpus, basis=basis)
        assert_same_answers(open_build(target), OPTIONS.window)


def test_summed_counts_have_one_block(corpus, tmp_path):
    run_build([corpus], tmp_path / "build", BuildOptions(tokenizer="whitespace", vector_size=24, summed=True, window=2))
    opened = open_build(tmp_path / "build")
    assert opened.context_vectors.blocks == [0]
    assert_same_answers(opened, 2)


def test_build_in_a_store_is_explained(corpus, s3):
    run_build([corpus], storage.join(s3, "build"))
    assert_same_answers(open_build(storage.join(s3, "build")), OPTIONS.window)


def test_version_without_vectors_of_its_own_is_explained_by_the_earlier_counts(tmp_path, documents):
    corpus = [write_lines(tmp_path / f"{part}.jsonl", documents[part::8]) for part in range(2)]
    run_build(corpus[:1], tmp_path / "build")
    before = open_build(tmp_path / "build").explain("the", "of")
    run_update(tmp_path / "build", corpus, vectors="later")
    assert open_build(tmp_path / "build").explain("the", "of") == before


def test_weights_by_stored_marginals_are_those_of_all_pairs(build):
    opened = open_build(build)
    words = opened.vocabulary["word"].to_pylist()[5:40]
    found = opened.cooccurrence(2, words, weighting="ppmi")
    whole = opened.cooccurrence(2, weighting="ppmi")[5:40][:, 5:40]
    assert (found != whole).nnz == 0


def test_damaged_context_vectors_are_named(build, tmp_path):
    folder = embed(build, tmp_path / "vectors", {"vector_size": 24})
    path = folder / "contexts.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    CipherVectors.load(folder, verify=True)
    with pytest.raises(BitcipherError, match=r"SHA-256 of .*contexts\.safetensors differs"):
        open_build(build, vectors=folder).explain("the", "of")
    (damage,) = verify(str(folder), InProcessRuntime(1), StageProgress()).damage
    assert "contexts.safetensors" in damage.sentence


def test_folders_of_earlier_versions_are_read_and_explained(build, tmp_path):
    folder = embed(build, tmp_path / "vectors", {"vector_size": 24})
    expected = open_build(build, vectors=folder).explain("the", "of", topn=100_000)
    manifest = json_files.read(str(folder / "manifest.json"))
    del manifest["files"]["contexts.safetensors"]
    json_files.write(str(folder / "manifest.json"), {**manifest, "format": "bitcipher-vectors/6"})
    (folder / "contexts.safetensors").unlink()
    assert ContextVectors.read(str(folder)) is None
    found = open_build(build, vectors=folder).explain("the", "of", topn=100_000)
    assert found.similarity == pytest.approx(expected.similarity, abs=ROUNDING)


def open_explainer(build, folder=None):
    opened = open_build(build, vectors=folder)
    return Explainer(opened.vectors, opened.counts_of_vectors, context_vectors=opened.context_vectors)


@pytest.mark.parametrize("options", EMBEDDINGS, ids=str)
def test_explanations_are_those_from_the_counts(build, tmp_path, monkeypatch, options):
    monkeypatch.setattr("bitcipher.rows.spectral_rows.PAIRS_AT_ONCE", 20_000)  # several batches of words
    folder = embed(build, tmp_path / "vectors", options)
    indexed, plain = open_explainer(build, folder), open_explainer(build, folder)
    assert not indexed.open_index(str(tmp_path / "index"))
    indexed.write_index(str(tmp_path / "index"))
    assert indexed.open_index(str(tmp_path / "index"))
    words = open_build(build, vectors=folder).vectors.index_to_key
    random = np.random.default_rng(4)
    pairs = [("the", "of"), ("the", "the"), ("<oov>", words[-1]), *random.choice(words, (20, 2)).tolist()]
    for word, other in pairs:
        assert indexed.explain(word, other, 100_000) == plain.explain(word, other, 100_000)


def test_index_of_other_vectors_is_replaced(build, tmp_path):
    index = tmp_path / "index"
    first = open_explainer(build)
    first.write_index(str(index))
    (index / "notes.txt").write_text("kept")
    other = open_explainer(build, embed(build, tmp_path / "vectors", {"vector_size": 10}))
    assert not other.open_index(str(index))
    other.write_index(str(index))
    assert other.open_index(str(index))
    assert not open_explainer(build).open_index(str(index))
    assert first.explain("the", "of") == open_explainer(build).explain("the", "of")
    assert len(list(index.glob("rows-*.arrow"))) == 1
    assert (index / "notes.txt").read_text() == "kept"


def test_damaged_index_is_not_used(build, tmp_path):
    explainer = open_explainer(build)
    for name in ("rows-*.arrow", "index.json"):
        explainer.write_index(str(tmp_path))
        assert explainer.open_index(str(tmp_path))
        (file,) = tmp_path.glob(name)
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        assert not explainer.open_index(str(tmp_path))
        file.unlink()
        assert not explainer.open_index(str(tmp_path))


def test_index_needs_mode_spectral_and_a_local_folder(build, tmp_path):
    with pytest.raises(BitcipherError, match="mode spectral"):
        open_explainer(build, embed(build, tmp_path / "sums", {"mode": "sum", "bits": 20})).open_index(str(tmp_path))
    with pytest.raises(BitcipherError, match="local"):
        open_explainer(build).write_index("memory://index")
    opened = open_build(build)
    with pytest.raises(BitcipherError, match="bitcipher embed"):
        Explainer(opened.vectors, opened.counts_of_vectors).write_index(str(tmp_path))
