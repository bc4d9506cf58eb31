"""Builds in Python: the bytes of `bitcipher build`, iterables that are streamed, and sentences for wrong arguments."""

import sys
import weakref
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from builds import digests, write_lines

import bitcipher
from bitcipher import BitcipherError, CipherVectors
from bitcipher.versions import versions

TEXTS = [f"The cat saw {animal}s, and the {animal} saw a cat." for animal in ("dog", "bird", "cow", "hen")] * 20
OPTIONS = {"vector_size": 4, "window": 2, "min_count": 2, "memory_mib": 600}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """Build by the command, from a file of the same documents."""
    from cluster.cli.main import app

    folder = tmp_path_factory.mktemp("built")
    lines = write_lines(folder / "texts.jsonl", TEXTS)
    options = [part for name, value in OPTIONS.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    app(["build", str(lines), "--out", str(folder / "build"), "--workers", "0", *options], standalone_mode=False)
    return folder


@pytest.mark.parametrize("kind", ["generator", "list", "path", "paths", "glob"])
def test_build_of_documents_has_the_bytes_of_the_command(built, tmp_path, kind):
    given = {
        "generator": (text for text in TEXTS),
        "list": TEXTS,
        "path": built / "texts.jsonl",
        "paths": [str(built / "texts.jsonl")],
        "glob": f"{built}/*.jsonl",
    }[kind]
    vectors = CipherVectors.build(given, tmp_path / "build", **OPTIONS)
    assert digests(tmp_path / "build") == digests(built / "build")
    np.testing.assert_array_equal(vectors.vectors, CipherVectors.load(built / "build").vectors)


def test_build_without_a_folder_leaves_only_the_vectors(built, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    vectors = CipherVectors.build(TEXTS, **OPTIONS)
    expected = CipherVectors.load(built / "build")
    assert vectors.index_to_key == expected.index_to_key
    np.testing.assert_array_equal(vectors.vectors, expected.vectors)
    assert list(tmp_path.iterdir()) == []


def test_tokens_are_taken_as_they_are(tmp_path):
    tokens = [["The", "cat", "saw", "New_York,", "and", "THE", "dog"]] * 5
    vectors = CipherVectors.build(tokens, tmp_path / "build", vector_size=3, min_count=1, memory_mib=600)
    assert set(vectors.index_to_key) == {*tokens[0], "<oov>"}
    lower = CipherVectors.build(tokens, vector_size=3, min_count=1, memory_mib=600, lowercase=True)
    assert lower.get_vecattr("the", "count") == 10


def test_documents_are_streamed(tmp_path):
    class Document(str):
        pass

    alive, most = weakref.WeakSet(), 0

    def documents():
        nonlocal most
        for number in range(200):
            document = Document(f"the cat saw the dog {number % 7}")
            alive.add(document)
            most = max(most, sum(1 for _ in alive))
            yield document
            del document

    CipherVectors.build(documents(), **OPTIONS)
    assert most <= 3


def test_interrupted_build_of_the_same_documents_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr("pipelines.builds.make_version.write_vocabulary", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        CipherVectors.build(TEXTS, tmp_path / "build", **OPTIONS)
    monkeypatch.undo()
    CipherVectors.build(iter(TEXTS), tmp_path / "build", **OPTIONS)
    assert versions(str(tmp_path / "build")) == [1]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([], {}, "no documents"),
        (None, {}, "NoneType"),
        ({"text": 1}, {}, "got dict, whose column"),
        (pd.DataFrame({"text": ["the cat"]}), {}, "got DataFrame, whose column"),
        ("the cat saw the dog " * 20, {}, r"There is no file or folder 'the cat .* …': .* `\[text\]`"),
        ([["the", "cat"], [["a"], "dog"]], {}, "Document 2 is list of list, str, not"),
        (b"the cat", {}, "bytes"),
        ([b"the cat"], {}, "Document 1 is bytes"),
        (["the cat", None], {}, "Document 2 is NoneType"),
        ([["the"], "the cat"], {}, "Document 2 is str"),
        ([["the", 5]], {}, "Document 1 is list of int, str"),
        ([["New York"]], {}, "'New York'"),
        ([["the", ""]], {}, "''"),
        (["\ud800 cat"], {}, "Document 1 .*surrogate"),
        (["the cat " * 200_000], {"max_record_mib": 1}, "Document 1 .*max_record_mib"),
        ("missing.txt", {}, "missing.txt"),
        (["missing.txt", "other.txt"], {}, "missing.txt"),
        (["s3:///"], {"format": "nosuch"}, "format"),
        ([Path("missing"), 3], {}, "source 2 is int"),
        (["the cat"], {"window": 0}, "`window`"),
        (["the cat"], {"vectorsize": 3}, "vectorsize"),
        (["the cat"], {"vector_size": "3"}, "an integer"),
        (["the cat"], {"field": "body"}, "`field` is an option of files"),
        ([["the", "cat"]], {"tokenizer": "spacy"}, "leave out `tokenizer`"),
    ],
)
def test_wrong_arguments_give_a_sentence_and_leave_nothing(given, options, message, tmp_path):
    with pytest.raises(BitcipherError, match=message):
        CipherVectors.build(given, tmp_path / "build", **options)
    assert list(tmp_path.iterdir()) == []


def test_counts_stay_if_no_word_reaches_the_minimum_count(tmp_path):
    with pytest.raises(BitcipherError, match="min_count"):
        CipherVectors.build(["the cat"], tmp_path / "build", min_count=5)
    assert len(CipherVectors.build(["the cat"], tmp_path / "build", min_count=1, vector_size=1)) == 3


def test_missing_package_names_the_extra(monkeypatch):
    monkeypatch.delattr(bitcipher, "build", raising=False)
    monkeypatch.setitem(sys.modules, "pipelines.functions", None)
    with pytest.raises(BitcipherError, match=r"pip install .*\[pipelines\]"):
        CipherVectors.build(["the cat"])


@pytest.mark.parametrize("sources", [None, 5, b"texts.jsonl", "", ["texts.jsonl", 5]])
def test_sources_that_are_no_paths_are_refused(built, tmp_path, sources):
    with pytest.raises(BitcipherError, match="`sources` must be a path, a URI or a glob, or several, got "):
        bitcipher.shard(sources, tmp_path / "documents")
    with pytest.raises(BitcipherError, match="`sources` must be a path, a URI or a glob, or several, got "):
        bitcipher.update(built / "build", sources)


@pytest.mark.parametrize("workers", ["two", -1, 1.5])
def test_workers_that_are_no_number_are_refused(built, tmp_path, workers):
    for call in (bitcipher.shard, bitcipher.build):
        with pytest.raises(BitcipherError, match='`workers` must be 0, a number of workers, or "auto", got '):
            call(built / "texts.jsonl", tmp_path / "out", workers=workers)
    assert list(tmp_path.iterdir()) == []
