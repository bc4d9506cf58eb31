"""Vectors that other libraries wrote are read back equal, refused, or read with a warning that names a decision."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from gensim.models import KeyedVectors
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding

from bitcipher import BitcipherError, CipherVectors
from bitcipher.formats.word_tokenizer import make_tokenizer

pytestmark = pytest.mark.slow

Vectors = dict[str, np.ndarray]

# Without the byte-order mark, which no reader can tell from a word at the beginning of a file.
LETTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\ufeff")
ODD = st.text(st.sampled_from("ab1.-,;:[]\"' \t\r\x0b\x0c\x01\x1f\x85\u00a0\u2028é日"), max_size=5)
WORDS = st.one_of(
    st.text(LETTERS, max_size=5), ODD, st.sampled_from(["new york", "olympics 2008", ". . .", "1", "-2e5"])
)
# With line breaks, for formats that can hold them or whose lines then do not fit.
ANY_WORDS = st.one_of(WORDS, st.sampled_from(["\n", "a\n", "\na", "a\nb", "a\nb 1 2"]))


@st.composite
def tables(draw: st.DrawFn, words: st.SearchStrategy[str], least_size: int = 1) -> Vectors:
    """Draw words and vectors."""
    names = draw(st.lists(words, min_size=1, max_size=8, unique=True))
    size = draw(st.integers(least_size, 5))
    values = st.floats(-(2.0**60), 2.0**60, width=32, allow_subnormal=False) | st.integers(-9, 9).map(float)
    rows = draw(st.lists(st.lists(values, min_size=size, max_size=size), min_size=len(names), max_size=len(names)))
    return dict(zip(names, np.array(rows, np.float32), strict=True))


def keyed(vectors: Vectors) -> KeyedVectors:
    result = KeyedVectors(len(next(iter(vectors.values()))))
    result.add_vectors(list(vectors), np.array(list(vectors.values())))
    return result


def check(path: Path, vectors: Vectors, rtol: float = 0, **settings: object) -> None:
    """Check that a file is read equal, refused, or read with a warning."""
    refusal = ""
    with warnings.catch_warnings(record=True) as decisions:
        warnings.simplefilter("always")
        try:
            read = CipherVectors.load(path, **settings)
        except BitcipherError as error:
            refusal = str(error)
    if refusal:
        assert str(path) in refusal
        return
    if decisions:
        assert all(str(path) in str(decision.message) for decision in decisions)
        return
    assert set(read.index_to_key) == set(vectors)
    for word, vector in vectors.items():
        np.testing.assert_allclose(read[word], vector, rtol=rtol)


def many(examples: int) -> Callable:
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks)


@many(2000)
@given(tables(ANY_WORDS))
def test_gensim_text(tmp_path, vectors):
    keyed(vectors).save_word2vec_format(str(tmp_path / "file"), write_header=True)
    check(tmp_path / "file", vectors)


@many(2000)
@given(tables(ANY_WORDS))
def test_gensim_binary(tmp_path, vectors):
    assume(sum("\n" in word for word in vectors) != len(vectors) - 1)  # as the line breaks of the word2vec tool
    assume(not any(" " in word for word in vectors))  # which the format cannot hold, and gensim reads wrongly
    keyed(vectors).save_word2vec_format(str(tmp_path / "file"), binary=True)
    check(tmp_path / "file", vectors)
    check(tmp_path / "file", vectors, format="word2vec-binary")


@many(2000)
@given(tables(WORDS, least_size=2))
def test_gensim_text_without_a_header(tmp_path, vectors):
    # Nothing in the file tells numbers and words apart if all words end in numbers.
    assume(any(not word.split(" ")[-1:] or not is_number(word.split()[-1:]) for word in vectors))
    keyed(vectors).save_word2vec_format(str(tmp_path / "file"), write_header=False)
    check(tmp_path / "file", vectors)


def is_number(words: list[str]) -> bool:
    try:
        return bool(words) and bool(np.isfinite(float(words[0])) or True)
    except ValueError:
        return False


@many(1000)
@given(tables(WORDS), st.booleans(), st.integers(4, 9))
def test_fasttext_layout(tmp_path, vectors, has_final_space, digits):
    end = " \n" if has_final_space else "\n"
    rows = [" ".join(f"{value:.{digits}g}" for value in vector) for vector in vectors.values()]
    size = len(next(iter(vectors.values())))
    lines = [f"{len(vectors)} {size}\n", *(f"{word} {row}{end}" for word, row in zip(vectors, rows, strict=True))]
    (tmp_path / "file").write_bytes("".join(lines).encode())
    check(tmp_path / "file", vectors, rtol=10.0 ** (1 - digits))


@many(1000)
@given(tables(st.text(LETTERS.filter(lambda letter: not letter.isspace()), min_size=1, max_size=5), least_size=2))
def test_glove_layout(tmp_path, vectors):
    rows = [" ".join(f"{value:f}" for value in vector) for vector in vectors.values()]
    lines = [f"{word} {row}\n" for word, row in zip(vectors, rows, strict=True)]
    (tmp_path / "file").write_bytes("".join(lines).encode())
    check(tmp_path / "file", {w: np.float32(row.split(" ")) for w, row in zip(vectors, rows, strict=True)})


@many(300)
@given(tables(ANY_WORDS.filter(bool)))
def test_spacy_folder(tmp_path_factory, vectors):
    folder = tmp_path_factory.mktemp("spacy") / "pipeline"
    pipeline = spacy.blank("xx")
    for word, vector in vectors.items():
        pipeline.vocab.set_vector(word, vector)
    pipeline.to_disk(folder)
    check(folder, vectors)


@many(300)
@given(tables(ANY_WORDS), st.booleans(), st.booleans())
def test_model2vec_folder(tmp_path_factory, vectors, has_weights, is_half):
    folder = tmp_path_factory.mktemp("model2vec") / "model"
    vectors = {**vectors, "<oov>": next(iter(vectors.values()))}
    rows = np.clip(np.array(list(vectors.values())), -1e4, 1e4).astype(np.float16 if is_half else np.float32)
    weights = np.linspace(0.5, 2, len(rows)).astype(np.float32) if has_weights else None
    StaticModel(rows, make_tokenizer(list(vectors), True), weights=weights).save_pretrained(folder)
    expected = rows.astype(np.float32) * (weights[:, None] if weights is not None else 1)
    check(folder, dict(zip(vectors, expected, strict=True)), rtol=1e-6)


@many(100)
@given(tables(ANY_WORDS))
def test_sentence_transformers_folder(tmp_path_factory, vectors):
    folder = tmp_path_factory.mktemp("sentence-transformers") / "model"
    vectors = {**vectors, "<oov>": next(iter(vectors.values()))}
    tokenizer, rows = make_tokenizer(list(vectors), True), np.array(list(vectors.values()))
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=rows)], device="cpu").save(str(folder))
    check(folder, vectors)


LISTS = [
    lambda size: pa.list_(pa.float32()),
    lambda size: pa.large_list(pa.float64()),
    lambda size: pa.list_(pa.float32(), size),
    lambda size: pa.list_(pa.float64(), size),
]
STRINGS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()), pa.binary()]


@many(500)
@given(tables(ANY_WORDS), st.sampled_from(LISTS), st.sampled_from(STRINGS), st.integers(1, 9))
def test_arrow_parquet(tmp_path, vectors, make_list, strings, rows_of_group):
    size = len(next(iter(vectors.values())))
    words = pa.array(list(vectors)).cast(pa.string() if pa.types.is_dictionary(strings) else strings)
    words = words.dictionary_encode() if pa.types.is_dictionary(strings) else words
    rows = pa.array([vector.tolist() for vector in vectors.values()], make_list(size))
    pq.write_table(pa.table({"word": words, "vector": rows}), tmp_path / "file", row_group_size=rows_of_group)
    check(tmp_path / "file", vectors)


@many(300)
@given(tables(ANY_WORDS), st.booleans(), st.booleans())
def test_pandas_parquet(tmp_path, vectors, is_wide, has_index):
    if is_wide:
        frame = pd.DataFrame(vectors).T
        frame.columns = [f"d{column}" for column in frame.columns]
    else:
        frame = pd.DataFrame({"word": list(vectors), "vector": list(vectors.values())})
    if has_index and not is_wide:
        frame = frame.set_index("word")
    frame.to_parquet(tmp_path / "file")
    check(tmp_path / "file", vectors)


@many(300)
@given(tables(ANY_WORDS), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]), st.sampled_from(["\n", "\r\n"]))
def test_numpy_folder(tmp_path_factory, vectors, encoding, end):
    folder = str(tmp_path_factory.mktemp("numpy"))
    np.save(os.path.join(folder, "vectors.npy"), np.array(list(vectors.values())))
    Path(folder, "words.txt").write_bytes(end.join([*vectors, ""]).encode(encoding, "ignore"))
    assume(not any(set(word) & set("\r\n") for word in vectors))
    assume(encoding != "cp1252" or any(not word.isascii() and word.encode("cp1252", "ignore") for word in vectors))
    if encoding == "cp1252":
        assume(all(word == word.encode("cp1252", "ignore").decode("cp1252") for word in vectors))
    check(Path(folder), vectors)
