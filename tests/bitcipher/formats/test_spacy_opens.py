"""spaCy opens the pipeline folder, and `spacy init vectors` reads the text format."""

import subprocess
import sys

import numpy as np
import pytest
import spacy

from bitcipher import BitcipherError, CipherVectors
from bitcipher.files import storage
from bitcipher.formats.writer import write


def most_similar(pipeline, count):
    def find(word):
        query = pipeline.vocab.vectors[word][np.newaxis].copy()
        keys, _, cosines = pipeline.vocab.vectors.most_similar(query, n=count)
        return [(pipeline.vocab.strings[key], cosine) for key, cosine in zip(keys[0], cosines[0], strict=True)]

    return find


def test_spacy_loads_the_folder(tmp_path, table, check_neighbors):
    table.export("spacy", tmp_path / "out")
    pipeline = spacy.load(tmp_path / "out")
    check_neighbors(most_similar(pipeline, len(table)))
    text = pipeline("cat unknown zero")
    np.testing.assert_array_equal(text[0].vector, table["cat"])
    assert [token.has_vector for token in text] == [True, False, True]
    read = CipherVectors.load(tmp_path / "out")
    assert read.index_to_key == table.index_to_key
    np.testing.assert_array_equal(read.vectors, table.vectors)


def test_language_follows_the_tokenizer(tmp_path, table):
    for tokenizer, language in (("spacy", "en"), ("whitespace", "xx")):
        manifest = {"options": {"tokenizer": tokenizer}}
        write(CipherVectors(table.words, table.vectors, manifest=manifest), "spacy", tmp_path / tokenizer)
        assert spacy.load(tmp_path / tokenizer).lang == language


def test_stores_get_the_same_files(tmp_path, table):
    table.export("spacy", tmp_path / "out")
    table.export("spacy", "memory://formats/spacy")
    assert storage.list_files("memory://formats/spacy") == storage.list_files(str(tmp_path / "out"))
    with pytest.raises(BitcipherError, match="not on a local disk"):
        CipherVectors.load("memory://formats/spacy")


@pytest.mark.long
def test_spacy_init_vectors_reads_the_text(tmp_path, table, check_neighbors):
    table.export("word2vec", tmp_path / "out.txt")
    command = [sys.executable, "-m", "spacy", "init", "vectors", "en", tmp_path / "out.txt", tmp_path / "pipeline"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pipeline = spacy.load(tmp_path / "pipeline")
    check_neighbors(most_similar(pipeline, len(table)))


def test_damaged_folders_raise(tmp_path, table):
    table.export("spacy", tmp_path / "out")
    for name in ("key2row", "strings.json", "vectors"):
        path = tmp_path / "out" / "vocab" / name
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
        with pytest.raises(BitcipherError, match=r"no readable word vectors|vocab/vectors is not a numeric array"):
            CipherVectors.load(tmp_path / "out", format="spacy")
        path.write_bytes(content)
