import hashlib
import io
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.ingest import block_hashes
from pipelines.ingest import content_hash as module
from pipelines.ingest.content_hash import add_block_hashes, hash_sources, sha256
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers import read_source
from pipelines.ingest.sources import Source, list_sources
from pipelines.runtime.in_process import InProcessRuntime

CONTENTS = {"a.txt": b"one\n", "b.txt": b"two\n" * 9, "deep/c.txt": b"one\n"}


class RecordingRuntime(InProcessRuntime):
    """Runtime that records its inputs."""

    def __init__(self):
        super().__init__()
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
    assert [source.with_hashes("", b"") for source in found] == listing


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
    for input_bytes, file_bytes, files in ((1 << 30, 1, [3]), (5, 1, [2, 1]), (1, 1, [1, 1, 1]), (80, 40, [2, 1])):
        monkeypatch.setattr(module, "INPUT_BYTES", input_bytes)
        monkeypatch.setattr(module, "FILE_BYTES", file_bytes)
        runtime = RecordingRuntime()
        hash_sources(listing, [], runtime)
        assert [len(row) for row in runtime.read] == files


def test_large_files_are_read_in_blocks(corpus, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 5)
    assert sha256(storage.join(corpus, "b.txt")) == digest(CONTENTS["b.txt"])


def test_missing_files_raise(corpus):
    listing = list_sources([corpus])
    storage.remove(storage.join(corpus, "a.txt"))
    with pytest.raises(BitcipherError, match=r"There is no file .*a\.txt"):
        hash_sources(listing, [], InProcessRuntime())


class ChangingRuntime(InProcessRuntime):
    """Runtime that changes a file before it is read."""

    def __init__(self, uri, content):
        super().__init__()
        self._uri, self._content = uri, content

    def stream(self, spec, inputs):
        with storage.writing(self._uri) as stream:
            stream.write(self._content)
        return super().stream(spec, inputs)


def test_size_differs_from_the_listing(corpus):
    uri = storage.join(corpus, "a.txt")
    with pytest.raises(BitcipherError, match=r"a\.txt has 9 bytes, but 4 when it was listed"):
        hash_sources(list_sources([corpus]), [], ChangingRuntime(uri, b"one\ntwo\n."))


@pytest.mark.parametrize(
    ("content", "message"), [(b"ONE\n", "other bytes"), (b"one\n.", "more bytes"), (b"on", "2 bytes")]
)
def test_reading_compares_the_bytes_with_the_hashes(corpus, content, message):
    source = hash_sources(list_sources([corpus]), [], InProcessRuntime())[0]
    with storage.writing(source.uri) as stream:
        stream.write(content)
    with pytest.raises(BitcipherError, match=rf"a\.txt changed .* {message}"):
        list(read_source(source, ReadOptions()))


def test_known_sources_are_hashed_before_they_are_read_again(corpus):
    source = hash_sources(list_sources([corpus]), [], InProcessRuntime())[0]
    (again,) = add_block_hashes([Source.parse(source.to_dict())], InProcessRuntime())
    assert again == source
    with storage.writing(source.uri) as stream:
        stream.write(b"ONE\n")
    with pytest.raises(BitcipherError, match=r"a\.txt is damaged: its content differs"):
        add_block_hashes([Source.parse(source.to_dict())], InProcessRuntime())


@given(st.binary(max_size=70), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 40)), max_size=6))
def test_any_part_of_a_verified_stream_equals_the_bytes(content, parts):
    with patch.object(block_hashes, "BLOCK_BYTES", 16):
        blocks = [content[start : start + 16] for start in range(0, len(content), 16)]
        hashes = b"".join(map(block_hashes.hash_block, blocks))
        stream = block_hashes.VerifiedStream(io.BytesIO(content), "a.txt", len(content), hashes)
        buffered = io.BufferedReader(stream, 7)
        for start, count in parts:
            buffered.seek(start)
            assert buffered.read(count) == content[start : start + count]


@given(st.binary(min_size=1, max_size=70), st.data())
def test_any_changed_byte_is_noticed(content, data):
    position = data.draw(st.integers(0, len(content) - 1))
    changed = bytearray(content)
    changed[position] ^= data.draw(st.integers(1, 255))
    with patch.object(block_hashes, "BLOCK_BYTES", 16):
        blocks = [content[start : start + 16] for start in range(0, len(content), 16)]
        hashes = b"".join(map(block_hashes.hash_block, blocks))
        stream = block_hashes.VerifiedStream(io.BytesIO(changed), "a.txt", len(content), hashes)
        # A read of an unbuffered stream returns at most one block.
        intact = b"".join(stream.read(16) for _ in range(position // 16))
        assert intact == content[: position // 16 * 16]
        with pytest.raises(BitcipherError, match=r"a\.txt changed"):
            stream.read(1)
