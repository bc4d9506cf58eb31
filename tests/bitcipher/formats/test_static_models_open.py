"""model2vec, sentence-transformers, transformers and safetensors open the static model folder."""

import json

import numpy as np
import pytest
from model2vec import StaticModel
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer
from transformers import AutoTokenizer

from bitcipher import BitcipherError, CipherVectors
from bitcipher.formats.word_tokenizer import make_tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("static") / "model"
    table.export("sentence-transformers", folder)
    return folder


def test_model2vec_reads_identical_words_and_vectors(folder, table, check_neighbors, numpy_finder):
    model = StaticModel.from_pretrained(folder)
    assert list(model.tokens) == table.index_to_key
    check_neighbors(numpy_finder(model.tokens, model.embedding))
    np.testing.assert_array_equal(model.encode(["cat"])[0], table["cat"])
    # model2vec skips unknown words, and `max_length: null` prevents truncation.
    long = "cat unknown " * 600 + "the"
    np.testing.assert_allclose(model.encode([long])[0], (600 * table["cat"] + table["the"]) / 601, rtol=1e-4, atol=1e-5)


def test_sentence_transformers_encodes_words_as_their_vectors(folder, table, check_neighbors, numpy_finder):
    model = SentenceTransformer(str(folder), device="cpu")
    words = [word for word in table.index_to_key if not set(word) & set('<>" \u00a0')]
    rows = model.encode(words)
    np.testing.assert_allclose(rows, table[words], rtol=1e-5)
    # Unknown words get the vector of <oov>.
    mean = (table["cat"] + table["<oov>"]) / 2
    np.testing.assert_allclose(model.encode(["cat unknown"])[0], mean, rtol=1e-5)
    cosine = float(model.similarity(model.encode(["cat"]), model.encode(["word7"]))[0, 0])
    assert cosine == pytest.approx(table.similarity("cat", "word7"), abs=1e-5)


def test_transformers_and_safetensors_read_identical_tokens_and_vectors(tmp_path, table, check_neighbors, numpy_finder):
    table.export("huggingface", tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    assert len(tokenizer) == len(table)
    assert tokenizer.convert_tokens_to_ids(table.index_to_key) == list(range(len(table)))
    assert tokenizer("cat unknown <oov> قلب").input_ids == [
        table.get_index(w) for w in ("cat", "<oov>", "<oov>", "قلب")
    ]
    rows = load_file(tmp_path / "model" / "model.safetensors")["embeddings"]
    check_neighbors(numpy_finder(table.index_to_key, rows))


def test_both_format_names_write_the_same_files(tmp_path, folder, table):
    table.export("huggingface", tmp_path / "model")
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(path.name for path in (tmp_path / "model").iterdir())
    assert all((folder / name).read_bytes() == (tmp_path / "model" / name).read_bytes() for name in names)


def test_table_without_oov_gets_a_zero_vector(tmp_path):
    CipherVectors(["Cat", "new york", ""], np.eye(3, dtype=np.float32)).export("huggingface", tmp_path / "model")
    read = CipherVectors.load(tmp_path / "model")
    assert read.index_to_key == ["Cat", "new york", "", "<oov>"]
    np.testing.assert_array_equal(read.vectors, [*np.eye(3), np.zeros(3)])


def test_tokenizer_splits_raw_text_like_spacy():
    words = ["mr.", "u.s.", "<oov>"]
    text = "“I don't know Mr. Smith's well-known house,\" he said; we'll (the U.S. last.) cannot--No!"
    tokens = [
        text.lower()[start:end] for start, end in make_tokenizer(words, whitespace_only=False).encode(text).offsets
    ]
    expected = (
        "“ i do n't know mr. smith 's well - known house , \" he said ; we 'll ( the u.s. last . ) can not -- no !"
    )
    assert " ".join(tokens) == expected


def test_tokenizer_retains_case_and_punctuation_if_the_table_has_them():
    tokenizer = make_tokenizer(["Cat", "cat,", "<oov>"], whitespace_only=True)
    assert tokenizer.encode("Cat cat, CAT").tokens == ["Cat", "cat,", "<oov>"]


def test_files_of_model2vec_are_read(tmp_path, folder, table):
    StaticModel.from_pretrained(folder).save_pretrained(tmp_path / "saved")
    read = CipherVectors.load(tmp_path / "saved")
    assert read.index_to_key == table.index_to_key
    np.testing.assert_array_equal(read.vectors, table.vectors)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
@pytest.mark.parametrize("has_mapping", [False, True])
@pytest.mark.parametrize("has_weights", [False, True])
def test_weights_and_mapping_of_model2vec_are_applied(tmp_path, folder, has_weights, has_mapping, dtype):
    model = StaticModel.from_pretrained(folder)
    tokens, random = len(model.tokens), np.random.default_rng(4)
    rows = (random.standard_normal((9 if has_mapping else tokens, 8)) * 30).astype(dtype)
    quantized = StaticModel(
        vectors=rows,
        tokenizer=model.tokenizer,
        config=model.config,
        weights=random.random(tokens) if has_weights else None,
        token_mapping=random.integers(0, 9, tokens) if has_mapping else None,
    )
    quantized.save_pretrained(tmp_path / "model")
    read = CipherVectors.load(tmp_path / "model")
    assert read.index_to_key == list(model.tokens)
    for word in ("cat", "the", "word7"):
        np.testing.assert_allclose(read[word], quantized.encode([word])[0], rtol=2e-3)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"weights": np.ones(3, np.float32)}, "`weights` .* has no number for each"),
        ({"weights": np.ones((9, 1), np.float32)}, "`weights` .* has no number for each"),
        ({"mapping": np.arange(3)}, "`mapping` .* has no row for each"),
        ({"mapping": np.arange(9) - 1}, "`mapping` .* has no row for each"),
        ({"mapping": np.arange(9) + 1}, "`mapping` .* has no row for each"),
        ({"weights": np.full(9, np.inf, np.float32)}, "not finite"),
    ],
)
def test_weights_and_mapping_that_do_not_fit_are_refused(tmp_path, tensors, message):
    words = [f"w{row}" for row in range(8)] + ["<oov>"]
    CipherVectors(words, np.ones((9, 2))).export("huggingface", tmp_path / "model")
    save_file({"embeddings": np.ones((9, 2), np.float32), **tensors}, tmp_path / "model/model.safetensors")
    with pytest.raises(BitcipherError, match=message):
        CipherVectors.load(tmp_path / "model")


def test_damaged_folders_raise(tmp_path, table):
    table.export("huggingface", tmp_path / "model")
    weights, tokens = tmp_path / "model" / "model.safetensors", tmp_path / "model" / "tokenizer.json"
    whole = weights.read_bytes()
    for content, message in ((whole[:100], "damaged"), (None, "no model.safetensors")):
        weights.unlink()
        if content is not None:
            weights.write_bytes(content)
        with pytest.raises(BitcipherError, match=message):
            CipherVectors.load(tmp_path / "model")
        weights.write_bytes(whole)
    save_file({"embeddings": table.vectors[:-1].copy()}, weights)
    with pytest.raises(BitcipherError, match="one row for each"):
        CipherVectors.load(tmp_path / "model")
    tokens.write_text(json.dumps({"model": {"vocab": {"a": 0, "b": 7}}}))
    with pytest.raises(BitcipherError, match="token ids"):
        CipherVectors.load(tmp_path / "model")
