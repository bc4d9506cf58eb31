"""Vectors in repositories of the Hugging Face Hub, with a stand-in for its HTTP interface."""

import re
import sys

import numpy as np
import pytest
from hub_server import HubServer, check_escaped, make_hostile, run_python

from bitcipher import BitcipherError, CipherVectors


@pytest.fixture
def hub():
    with HubServer() as hub:
        yield hub


@pytest.fixture
def vectors() -> CipherVectors:
    return CipherVectors(["cat", "dog", "<oov>"], np.float32([[1, 2], [3, 4], [0, 1]]), counts=[5, 4, 3])


def test_pushed_vectors_are_read_back(hub, vectors, tmp_path):
    vectors.save(tmp_path / "vectors")
    code = """
vectors = CipherVectors.load("vectors")
print(vectors.push_to_hub("ada/cats", commit_message="First vectors"))
again = CipherVectors.from_pretrained("ada/cats")
assert (again.vectors == vectors.vectors).all() and again.counts.tolist() == vectors.counts.tolist()
assert CipherVectors.load("hf://ada/cats").index_to_key == CipherVectors.load("hf://ada/cats@main").index_to_key
"""
    assert "/ada/cats/commit/" in run_python(hub, tmp_path, code)
    files = hub.repositories["ada/cats"]
    assert {"manifest.json", "vectors.safetensors", "words.parquet", "README.md"} == set(files)
    assert files["vectors.safetensors"] == (tmp_path / "vectors" / "vectors.safetensors").read_bytes()
    assert "First vectors" in hub.messages
    assert b'from_pretrained("ada/cats")' in files["README.md"]


def test_readme_of_a_repository_stays(hub, vectors, tmp_path):
    hub.repositories["ada/cats"] = {"README.md": b"mine"}
    vectors.save(tmp_path / "vectors")
    run_python(hub, tmp_path, 'CipherVectors.load("vectors").push_to_hub("ada/cats")')
    assert hub.repositories["ada/cats"]["README.md"] == b"mine"


def test_one_file_is_read_and_no_pickle_is_downloaded(hub, vectors, tmp_path):
    vectors.export("glove", tmp_path / "cats.txt")
    vectors.save(tmp_path / "vectors")
    files = {path.name: path.read_bytes() for path in (tmp_path / "vectors").iterdir()}
    hub.repositories["ada/cats"] = {**files, "cats.txt": (tmp_path / "cats.txt").read_bytes(), "model.pkl": b"\x80"}
    code = """
print(CipherVectors.load("hf://ada/cats/cats.txt").index_to_key, CipherVectors.from_pretrained("ada/cats/cats.txt"))
CipherVectors.load("hf://ada/cats")
"""
    assert "['cat', 'dog', '<oov>']" in run_python(hub, tmp_path, code)
    assert not any("model.pkl" in path for _, path in hub.requests)


ERRORS = {
    'CipherVectors.load("hf://ada/missing")': "Cannot read hf://ada/missing: 404",
    'CipherVectors.from_pretrained("ada/cats/missing.vec")': "Cannot read hf://ada/cats/missing.vec: 404",
    'CipherVectors.from_pretrained("ada/cats")': "in none of the readable formats",
    'CipherVectors.load("hf://cats")': "write hf://OWNER/NAME",
    'CipherVectors(["a"], [[1.0]]).push_to_hub("a b")': "Cannot write hf://a b",
}


def test_errors_are_sentences_without_the_token(hub, tmp_path):
    hub.repositories["ada/cats"] = {"notes.json": b"{}"}
    tries = "".join(f"try:\n    {call}\nexcept BitcipherError as error:\n    print(error)\n" for call in ERRORS)
    printed = run_python(hub, tmp_path, tries, HF_TOKEN="hf_secret").splitlines()
    for line, message in zip(printed, ERRORS.values(), strict=True):
        assert message in line
        assert "hf_secret" not in line


def test_missing_server_and_wrong_token_give_sentences(hub, tmp_path):
    hub.token = "hf_right"
    code = """
for token in ("hf_wrong", "hf_right"):
    try:
        CipherVectors.from_pretrained("ada/cats", token=token)
    except BitcipherError as error:
        print(error)
"""
    hub.repositories["ada/cats"] = {"notes.json": b"{}"}
    refused, formats = run_python(hub, tmp_path, code).splitlines()
    assert "none of the readable formats" in formats
    assert "401" in refused
    assert "hf_wrong" not in refused
    unreachable = run_python(hub, tmp_path, code, HF_ENDPOINT="http://127.0.0.1:9", HF_HOME=str(tmp_path / "empty"))
    assert unreachable.count("Cannot read hf://ada/cats: ") == 2


def test_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(BitcipherError, match=r"pip install .*\[hub\]"):
        CipherVectors.load("hf://ada/cats")


def test_hostile_servers_write_nothing(hub, tmp_path):
    cases = make_hostile(hub, tmp_path / "escaped", {"manifest.json": b"{}"})
    # Of one file, only headers are used; of a missing one, only the commit.
    uris = [f"hf://{name}" for name in cases]
    uris += [f"hf://{name}/manifest.json" for name, values in cases.items() if "file_headers" in values]
    uris += [f"hf://{name}/gone.json" for name, values in cases.items() if "X-Repo-Commit" in str(values)]
    code = f"""
from bitcipher.vectors import hub
for uri in {uris}:
    try:
        print("read", hub.download(uri))
    except BitcipherError as error:
        print(error)
"""
    printed = run_python(hub, tmp_path, code).splitlines()
    for uri, line in zip(uris, printed, strict=True):
        assert re.fullmatch(
            rf"Cannot read {uri}: .*, which could write outside of the cache .*: check HF_ENDPOINT\.", line
        )
    assert check_escaped(tmp_path) == []
