"""Answers of the server equal the results of the library and of `--json`."""

import json
import shutil

import numpy as np
import pytest
from starlette.testclient import TestClient

from bitcipher import CipherVectors
from bitcipher.stored_build import open_build
from cluster.serve.app import VERSION_HEADER, make_app
from cluster.serve.served_version import ServedVersion, locate_vectors
from cluster.serve.server_metrics import ServerMetrics


@pytest.fixture(scope="module")
def vectors(served_build):
    return CipherVectors.load(served_build)


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("word=w1", ("w1",)),
        ("word=w1&word=w4&topn=3", ("w1", "w4", "--topn", 3)),
        ("word=w1&plus=w2&plus=w4&minus=w3", ("w1", "--plus", "w2", "--plus", "w4", "--minus", "w3")),
        ("word=w12345&topn=2", ("w12345", "--topn", 2)),
        ("word=W7&case_insensitive=true", ("W7", "--case-insensitive")),
        ("word=nosuch&oov=token&topn=1000", ("nosuch", "--oov", "token", "--topn", 1000)),
        ("word=w12345&oov=spelling", ("w12345", "--oov", "spelling")),
    ],
)
def test_neighbors_are_those_of_the_command(client, served_build, run_command, query, arguments):
    answer = client.get(f"/neighbors?{query}")
    assert answer.status_code == 200
    assert answer.headers[VERSION_HEADER] == "1"
    expected = json.loads(run_command("neighbors", served_build, *arguments, "--json").out)
    assert answer.json() == expected
    assert expected["queries"]


def test_vectors_of_words_and_of_any_string(client, vectors):
    words = ["w1", "w12345", "w7", "w1"]
    found = client.post("/vectors", json={"words": words}).json()["vectors"]
    assert [each["word"] for each in found] == words
    assert [each["from_spelling"] for each in found] == [False, True, False, False]
    for each in found:
        expected = vectors.get_vector(each["word"], oov="spelling")
        np.testing.assert_array_equal(np.array(each["vector"], np.float32), expected)
    (token,) = client.post("/vectors", json={"words": ["w12345"], "oov": "token"}).json()["vectors"]
    assert token["from_spelling"] is False
    np.testing.assert_array_equal(np.array(token["vector"], np.float32), vectors["<oov>"])


@pytest.mark.parametrize(("word", "other"), [("w1", None), ("w1", "w4")])
def test_explanation_is_that_of_the_library(client, served_build, word, other):
    found = client.get("/explain", params={"word": word, "topn": 5} | ({"other": other} if other else {})).json()
    expected = open_build(served_build).explain(word, other, 5)
    assert found["words"] == [each for each in (word, other) if each]
    assert (found["similarity"], found["rest"]) == (expected.similarity, expected.rest)
    assert [tuple(each.values()) for each in found["contributions"]] == [tuple(each) for each in expected.contributions]
    assert [tuple(each.values()) for each in found["ngrams"]] == [tuple(each) for each in expected.ngrams]
    assert list(found["contributions"][0]) == ["offset", "word", "weight"]
    assert list(found["ngrams"][0]) == ["ngram", "weight"]


def test_embeddings_are_those_of_the_library(client, vectors):
    texts = ["w1 w4 w2", "  w5, w6!", "nothing known"]
    found = client.post("/encode", json={"texts": texts}).json()["embeddings"]
    np.testing.assert_array_equal(np.array(found, np.float32), vectors.encode(texts))


def test_health_tells_what_is_served(client, vectors):
    assert client.get("/health").json() == {
        "status": "ok",
        "version": 1,
        "words": len(vectors),
        "dimensions": 20,
    }


def test_metrics_count_requests_by_path_and_status(client):
    for path in ("/neighbors?word=w1", "/neighbors?word=w2", "/neighbors", "/nosuch/1", "/nosuch/2"):
        client.get(path)
    text = client.get("/metrics").text
    assert 'bitcipher_requests_total{path="/neighbors",status="200"} 2.0' in text
    assert 'bitcipher_requests_total{path="/neighbors",status="422"} 1.0' in text
    assert 'bitcipher_requests_total{path="other",status="404"} 2.0' in text
    assert 'bitcipher_request_duration_seconds_count{path="/neighbors",status="200"} 2.0' in text
    assert "process_resident_memory_bytes" in text


def test_description_names_all_arguments_and_no_page_loads_scripts(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths) == {"/neighbors", "/vectors", "/explain", "/encode", "/health"}
    arguments = {each["name"]: each for each in paths["/neighbors"]["get"]["parameters"]}
    assert set(arguments) == {"word", "plus", "minus", "topn", "case_insensitive", "oov"}
    assert arguments["topn"]["description"] == "Number of neighbors per word."
    assert (arguments["topn"]["schema"]["minimum"], arguments["topn"]["schema"]["maximum"]) == (1, 1000)
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


def test_request_whose_version_is_removed_is_answered_by_the_next_one(served_build, queue, tmp_path):
    shutil.copytree(served_build, tmp_path / "build")
    uris = (str(tmp_path / "build"), served_build)
    old, new = (ServedVersion(uri, locate_vectors(uri), queue) for uri in uris)
    versions = iter([old])
    client = TestClient(make_app(lambda: next(versions, new), ServerMetrics()))
    expected = TestClient(make_app(lambda: new, ServerMetrics())).get("/explain?word=w1")
    shutil.rmtree(tmp_path / "build")  # such as by `prune`, before the counts are read
    answer = client.get("/explain?word=w1")
    assert (answer.status_code, answer.json()) == (200, expected.json())
