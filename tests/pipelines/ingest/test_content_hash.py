import hashlib

import pytest

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.ingest import content_hash as module
from pipelines.ingest.content_hash import hash_sources, sha256
from pipelines.ingest.sources import list_sources
from pipelines.runtime.in_process import InProcessRuntime

CONTENTS = {"a.txt": b"one\n", "b.txt": b"two\n" * 9, "deep/c.txt": b"one\n"}


class RecordingRuntime(InProcessRuntime):
    """Runtime that records its inputs."""

    def __init__(self):
        self.read = []

    def stream(self, spec, inputs):
        self.read += inputs
        return super().stream(spec, inputs)


@pytest.fixture
def corpus(base_uri):
    uri = storage.join(base_uri, "corpus")
    for name, content in CONTENTS.items():
        with storage.writing(storage.join(uri, name)) as stream:
            stream.write(content)
    return uri


def digest(content):
    return hashlib.sha256(content).hexdigest()


def test_hashes_are_those_of_the_stored_bytes(corpus):
    listing = list_sources([corpus])
    found = hash_sources(listing, [], InProcessRuntime())
    assert [source.sha256 for source in found] == [digest(content) for content in CONTENTS.values()]
    assert [source.model_copy(update={"sha256": ""}) for source in found] == listing


def test_known_files_are_not_read_again(corpus):
    known = hash_sources(list_sources([corpus]), [], InProcessRuntime())
    with storage.writing(storage.join(corpus, "b.txt")) as stream:
        stream.write(b"another\n")
    with storage.writing(storage.join(corpus, "new.txt")) as stream:
        stream.write(b"new\n")
    runtime = RecordingRuntime()
    found = hash_sources(list_sources([corpus]), known, runtime)
    assert [[uri.rpartition("/")[2] for uri in row] for row in runtime.read] == [["b.txt", "new.txt"]]
    contents = {**CONTENTS, "b.txt": b"another\n", "new.txt": b"new\n"}
    assert [source.sha256 for source in found] == [digest(content) for content in contents.values()]


def test_sources_without_a_stamp_are_hashed(corpus):
    listing = [source.model_copy(update={"stamp": ""}) for source in list_sources([corpus])]
    runtime = RecordingRuntime()
    wrong = [source.model_copy(update={"sha256": "0" * 64}) for source in listing]
    assert [source.sha256 for source in hash_sources(listing, wrong, runtime)] == list(map(digest, CONTENTS.values()))
    assert sum(map(len, runtime.read)) == 3


def test_small_files_share_an_input_and_large_files_do_not(corpus, monkeypatch):
    listing = list_sources([corpus])  # of 4, 36 and 4 bytes
    for input_bytes, files in ((1 << 30, [3]), (5, [2, 1]), (1, [1, 1, 1])):
        monkeypatch.setattr(module, "INPUT_BYTES", input_bytes)
        runtime = RecordingRuntime()
        hash_sources(listing, [], runtime)
        assert [len(row) for row in runtime.read] == files


def test_large_files_are_read_in_blocks(corpus, monkeypatch):
    monkeypatch.setattr(module, "READ_BYTES", 5)
    assert sha256(storage.join(corpus, "b.txt")) == digest(CONTENTS["b.txt"])


def test_missing_files_raise(corpus):
    listing = list_sources([corpus])
    storage.remove(storage.join(corpus, "a.txt"))
    with pytest.raises(BitcipherError, match=r"There is no file .*a\.txt"):
        hash_sources(listing, [], InProcessRuntime())
