"""Token shards in a store are copied to the cache of this node, and compared with their SHA-256 at each start."""

from pathlib import Path

import pytest
from tiny_runs import write_tiny_text

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.node_cache import cache_folder
from training.data.token_streams import TokenDataset


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """URI of token shards in a store, whose copies go to a folder of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder, uri = write_tiny_text(tmp_path / "text"), f"memory://{tmp_path}/text"
    for name in storage.list_files(str(folder)):
        storage.write_bytes(storage.join(uri, name), (folder / name).read_bytes())
    yield uri
    storage.remove(uri)


def tokens_of(folder):
    stream = TokenDataset.open(str(folder)).train
    return stream.read([0], len(stream)).tolist()


def test_shards_are_copied_once(stored, tmp_path):
    expected = tokens_of(tmp_path / "text")
    assert tokens_of(stored) == expected
    (copy,) = (path for path in (cache_folder() / "token-shards").iterdir() if path.is_dir())
    times = {path: path.stat().st_mtime_ns for path in copy.glob("*.tokens")}
    assert tokens_of(stored) == expected
    assert {path: path.stat().st_mtime_ns for path in copy.glob("*.tokens")} == times


def test_damaged_copy_is_copied_again(stored, tmp_path):
    dataset = TokenDataset.open(stored)
    copy = Path(dataset.folder, "train-a.tokens")
    copy.write_bytes(bytes(copy.stat().st_size))
    assert tokens_of(stored) == tokens_of(tmp_path / "text")


@pytest.mark.parametrize("name", ["train-a.tokens", "validation-b.ends", "tokenizer.json"])
def test_damaged_and_missing_files_of_the_store_are_named(stored, name):
    uri = storage.join(stored, name)
    content = storage.read_bytes(uri)
    storage.write_bytes(uri, content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(BitcipherError, match=f"{uri} is damaged: its SHA-256"):
        TokenDataset.open(stored)
    storage.remove(uri)
    with pytest.raises(BitcipherError, match=f"no file {uri}"):
        TokenDataset.open(stored)


def test_incomplete_folder_is_named(stored):
    storage.remove(storage.join(stored, "text.json"))
    with pytest.raises(BitcipherError, match=f"no text.json in {stored}"):
        TokenDataset.open(stored)


def test_cache_that_cannot_be_written_is_named(stored, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(BitcipherError, match=f"Cannot write {tmp_path}/file/bitcipher/token-shards/"):
        TokenDataset.open(stored)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    with pytest.raises(BitcipherError, match="set XDG_CACHE_HOME to the absolute path"):
        TokenDataset.open(stored)
