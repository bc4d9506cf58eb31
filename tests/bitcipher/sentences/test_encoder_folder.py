"""Folders of encoders: other libraries give the same embeddings, and damage is noticed."""

import hashlib
import json
import random

import mutations
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer
from sentence_vectors import SENTENCES

from bitcipher import BitcipherError, CipherVectors
from bitcipher.files import json_files
from bitcipher.sentences.sentence_encoder import SentenceEncoder
from bitcipher.sentences.token_finder import TokenFinder

TEXTS = [
    *SENTENCES,
    "",
    "qqq",
    "painter walkjumps",
    "“I don't walk,\" he said; (the U.S. last.) cannot--No! <oov> walk<oov>jump a\x1cwalk İSTANBUL ΣΑΣ",
    "walk " * 2000,
]


@pytest.fixture(scope="module", params=["from vectors", "fitted"])
def encoder(vectors, request):
    encoder = SentenceEncoder.from_vectors(vectors)
    return encoder.fit(SENTENCES) if request.param == "fitted" else encoder


@pytest.fixture(scope="module")
def folder(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder") / "folder"
    encoder.save(folder)
    return folder


def test_sentence_transformers_gives_the_same_embeddings(encoder, folder):
    model = SentenceTransformer(str(folder), device="cpu")
    np.testing.assert_allclose(model.encode(TEXTS), encoder.encode(TEXTS), atol=1e-6)


def test_model2vec_gives_the_same_embeddings(encoder, folder):
    model = StaticModel.from_pretrained(folder)
    np.testing.assert_allclose(model.encode(TEXTS), encoder.encode(TEXTS), atol=1e-6)


def test_loading_gives_the_same_embeddings_and_bytes(encoder, folder, tmp_path):
    loaded = SentenceEncoder.load(folder)
    np.testing.assert_array_equal(loaded.encode(TEXTS), encoder.encode(TEXTS))
    loaded.save(tmp_path / "again")
    for path in folder.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    assert CipherVectors.load(folder).vector_size == encoder.vector_size


ALPHABET = st.sampled_from(
    ["walk", "jump", "<oov>", "<OOV>", "U.S.", "'", '"', "-", "—", "n't", "Σ", "İ", ".", *" \t\n\u3000\x1c\x85"]
)


@pytest.fixture(scope="module")
def tokens(vectors):
    return TokenFinder(vectors.index_to_key, whitespace_only=False)


@given(st.lists(ALPHABET, max_size=12).map("".join))
def test_tokens_of_chunks_are_those_of_the_text(vectors, tokens, text):
    rows = [row for row in tokens.tokenizer.encode(text).ids if row != vectors.get_index("<oov>")]
    assert tokens.find([text])[0].tolist() == rows


def test_existing_folders_are_not_replaced(encoder, folder):
    with pytest.raises(BitcipherError, match="already exists"):
        encoder.save(folder)


@pytest.fixture
def damaged(vectors, tmp_path):
    """A valid folder, and a function that writes changed fields to its manifest."""
    SentenceEncoder.from_vectors(vectors).save(tmp_path / "folder")

    def change(**fields):
        path = str(tmp_path / "folder" / "encoder.json")
        json_files.write(path, {**json_files.read(path), **fields})

    return tmp_path / "folder", change


def test_damaged_files_are_named(damaged):
    folder, _ = damaged
    for name in ("encoder.json", "model.safetensors", "tokenizer.json"):
        path = folder / name
        content = path.read_bytes()
        path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        with pytest.raises(BitcipherError, match=name):
            SentenceEncoder.load(folder)
        path.unlink()
        with pytest.raises(BitcipherError, match=name):
            SentenceEncoder.load(folder)
        path.write_bytes(content)


def test_wrong_manifests_are_refused(damaged):
    folder, change = damaged
    files = json.loads((folder / "encoder.json").read_text())["files"]
    for fields, message in (
        ({"format": "bitcipher-sentences/9"}, "sentences/9"),
        ({"files": {}}, "list of files"),
        ({"files": {**files, "../x": files["tokenizer.json"]}}, "list of files"),
        ({"files": {**files, "tokenizer.json": {"bytes": 1}}}, "encoder.json"),
        ({"whitespace_only": "x"}, "whitespace_only"),
    ):
        valid = (folder / "encoder.json").read_bytes()
        change(**fields)
        with pytest.raises(BitcipherError, match=message):
            SentenceEncoder.load(folder)
        (folder / "encoder.json").write_bytes(valid)


@pytest.mark.parametrize("name", ["encoder.json", "model.safetensors", "tokenizer.json"])
def test_mutated_files_with_valid_digests_are_read_or_refused(damaged, name):
    folder, change = damaged
    path, state, refused = folder / name, random.Random(name), 0
    content, manifest = path.read_bytes(), (folder / "encoder.json").read_bytes()
    for _ in range(40):
        path.write_bytes(content)
        mutations.mutate_file(path, state)
        if name != "encoder.json":
            entry = {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            change(files={**json.loads(manifest)["files"], name: entry})
        try:
            assert SentenceEncoder.load(folder).encode(["the walker"]).shape[0] == 1
        except BitcipherError:
            refused += 1
        (folder / "encoder.json").write_bytes(manifest)
    assert refused > 10


def test_exports_of_vectors_are_no_encoders(vectors, tmp_path):
    vectors.export("sentence-transformers", tmp_path / "export")
    with pytest.raises(BitcipherError, match=r"no encoder\.json"):
        SentenceEncoder.load(tmp_path / "export")
