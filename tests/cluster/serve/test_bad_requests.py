"""Bad requests are answered by one sentence and a status from 400 to 499, or 503 if the server is busy."""

import json

import numpy as np
import pytest
from served_builds import make_client

from bitcipher import CipherVectors


def sentence_of(answer):
    """Return the sentence of an answer that has nothing else."""
    found = answer.json()
    assert list(found) == ["error"]
    assert "Traceback" not in found["error"]
    assert "\n" not in found["error"]
    assert found["error"].endswith(".")
    return found["error"]


@pytest.mark.parametrize(
    ("path", "status", "expected"),
    [
        ("/neighbors", 422, "`word` is missing"),
        ("/neighbors?word=nosuch", 404, "'nosuch' is not in the vocabulary of"),
        ("/neighbors?word=w1&plus=nosuch", 404, "'nosuch' is not in the vocabulary of"),
        ("/neighbors?word=", 404, "'' is not in the vocabulary of"),
        ("/neighbors?word=%ff%fe", 404, "is not in the vocabulary of"),
        ("/neighbors?word=w1&topn=0", 422, "`topn` must be between 1 and 1000, got '0'"),
        ("/neighbors?word=w1&topn=1001", 422, "`topn` must be between 1 and 1000"),
        ("/neighbors?word=w1&topn=many", 422, "`topn` must be an integer, got 'many'"),
        ("/neighbors?word=w1&oov=zeros", 422, "`oov` must be spelling or token, got 'zeros'"),
        ("/neighbors?word=w1&case_insensitive=perhaps", 422, "`case_insensitive` must be true or false"),
        ("/neighbors?word=w1&top_n=3", 422, "no option `top_n`; choose from case_insensitive, minus, oov, plus, topn"),
        ("/neighbors?" + "&".join(["word=w1"] * 17), 422, "`word` must have at most 16 elements, got 17"),
        ("/neighbors?word=" + "x" * 2000, 422, "must have at most 1,000 characters, got 2,000"),
        ("/explain", 422, "`word` is missing"),
        ("/explain?word=nosuch", 404, "'nosuch' is not in the vocabulary of"),
        ("/explain?word=w1&other=w12345", 404, "'w12345' is not in the vocabulary of"),
        ("/explain?word=w1&topn=-1", 422, "`topn` must be between 1 and 1000"),
        ("/vectors?words=w1", 405, "/vectors has no method GET: use POST"),
        ("/nosuch", 404, "There is no path /nosuch: choose from /, /encode, /explain, /health"),
        ("/neighbors/w1", 404, "There is no path /neighbors/w1"),
    ],
)
def test_bad_query(client, path, status, expected):
    answer = client.get(path)
    assert expected in sentence_of(answer)
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("path", "body", "status", "expected"),
    [
        ("/vectors", {}, 422, "`words` is missing"),
        ("/vectors", {"words": []}, 422, "`words` must be a list with a length of at least 1"),
        ("/vectors", {"words": "w1"}, 422, "`words` must be a list"),
        ("/vectors", {"words": [3]}, 422, "`words.0` must be a string, got 3"),
        ("/vectors", {"words": ["w1", "nosuch"]}, 404, "'nosuch' is not in the vocabulary of"),
        ("/vectors", {"words": ["\ud800"]}, 422, "`words.0` must be"),
        ("/vectors", {"words": ["w1"] * 1001}, 422, "`words` must have at most 1,000 elements, got 1,001"),
        ("/vectors", {"words": ["w1"], "topn": 3}, 422, "no option `topn`; choose from oov, words"),
        ("/encode", {"texts": []}, 422, "`texts` must be a list with a length of at least 1"),
        ("/encode", {"texts": ["w1", " \n"]}, 422, "`texts.1` must be a string with at least 1 character"),
        ("/encode", {"texts": ["w1"] * 1001}, 422, "`texts` must have at most 1,000 elements, got 1,001"),
        ("/encode", {"texts": ["w1 \ud800"]}, 422, "`texts.0` must be"),
        ("/encode", {f"field{number}": 1 for number in range(33)}, 422, "The body must be a JSON object with texts"),
        ("/encode", ["w1"], 422, "The body must be a JSON object with texts"),
        ("/encode", None, 422, "The body must be a JSON object with texts"),
        ("/encode", {"texts": ["x" * (1 << 20)]}, 413, "The body has more than 1,048,576 bytes"),
    ],
)
def test_bad_body(client, path, body, status, expected):
    content = "" if body is None else json.dumps(body)
    answer = client.post(path, content=content, headers={"Content-Type": "application/json"})
    assert expected in sentence_of(answer)
    assert answer.status_code == status


def test_body_that_is_not_json_or_has_no_size(client):
    headers = {"Content-Type": "application/json"}
    answer = client.post("/encode", content='{"texts": [', headers=headers)
    assert (answer.status_code, "The body is not JSON" in sentence_of(answer)) == (422, True)
    answer = client.post("/encode", content=b"\xff\xfe{", headers=headers)
    assert (answer.status_code // 100, len(sentence_of(answer)) > 0) == (4, True)
    answer = client.post("/encode", content="texts=w1", headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert (answer.status_code, "sent as application/json" in sentence_of(answer)) == (422, True)
    answer = client.post("/encode", content=iter([b"{}"]), headers=headers)
    assert (answer.status_code, "Content-Length" in sentence_of(answer)) == (411, True)


def test_vectors_of_other_tools_have_neither_counts_nor_spelling(tmp_path, queue):
    CipherVectors(["cat", "dog", "owl"], np.eye(3, 4, dtype=np.float32) + 0.1).export("word2vec", tmp_path / "v.vec")
    client = make_client(str(tmp_path / "v.vec"), queue)
    assert client.get("/health").json() == {"status": "ok", "version": None, "words": 3, "dimensions": 4}
    assert [each["word"] for each in client.get("/neighbors?word=cat").json()["queries"][0]["neighbors"]]
    for path, expected in (
        ("/neighbors?word=cats", "'cats' is not in the vocabulary of 3 words (close spellings: 'cat')"),
        ("/neighbors?word=cats&oov=spelling", "no n-grams, which the unknown word 'cats' needs"),
        ("/neighbors?word=cats&oov=token", "no <oov>"),
        ("/explain?word=cat", "no counts of pairs"),
    ):
        answer = client.get(path)
        assert expected in sentence_of(answer)
        assert answer.status_code in (400, 404)
    answer = client.post("/encode", json={"texts": ["cat"]})
    assert (answer.status_code, "no counts of words" in sentence_of(answer)) == (400, True)


def test_bug_is_answered_by_a_sentence_without_its_reason(client, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("cluster.serve.served_version.ServedVersion.encode", fail)
    answer = client.post("/encode", json={"texts": ["w1"]})
    assert (answer.status_code, "secret" in sentence_of(answer)) == (500, False)
