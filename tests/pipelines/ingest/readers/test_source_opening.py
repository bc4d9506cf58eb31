import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from bitcipher.errors import BitcipherError
from pipelines.ingest.content_kinds import COMPRESSION_ENDINGS
from pipelines.ingest.readers.byte_streams import open_decompressed
from pipelines.ingest.sources import Source

CONTENT = "one\ntwo \u2028 three\r\nعربي 😀\n".encode() * 50


def bytes_of(source):
    with open_decompressed(source) as stream:
        return stream.read()


@pytest.mark.parametrize("ending", ["", *COMPRESSION_ENDINGS])
class TestEveryCompression:
    def test_stored_bytes_are_read(self, stored, compress, ending):
        assert bytes_of(stored(f"a.txt{ending}", compress(ending, CONTENT))) == CONTENT

    def test_all_members_of_a_file_are_read(self, stored, compress, ending):
        assert bytes_of(stored(f"a.txt{ending}", compress(ending, CONTENT) * 3)) == CONTENT * 3

    def test_endings_are_case_insensitive(self, stored, compress, ending):
        assert bytes_of(stored(f"A.TXT{ending.upper()}", compress(ending, CONTENT))) == CONTENT

    def test_sources_in_a_memory_store_are_read(self, compress, ending):
        uri = f"memory://opening/a.txt{ending}"
        content = compress(ending, CONTENT)
        fsspec.filesystem("memory").pipe(uri, content)
        assert bytes_of(Source(uri=uri, size=len(content), format="text")) == CONTENT


@pytest.mark.parametrize("ending", COMPRESSION_ENDINGS)
def test_truncated_file_raises_with_its_name(stored, compress, ending):
    whole = compress(ending, b"some words\n" * 3)
    for length in range(1, len(whole)):
        source = stored(f"cut.txt{ending}", whole[:length])
        with pytest.raises(BitcipherError, match=r"cut\.txt.*(truncated|damaged)"):
            bytes_of(source)


@pytest.mark.parametrize("ending", COMPRESSION_ENDINGS)
@pytest.mark.parametrize("other", ["", *COMPRESSION_ENDINGS])
def test_first_bytes_decide_about_the_compression(stored, compress, ending, other):
    assert bytes_of(stored(f"a.txt{ending}", compress(other, CONTENT))) == CONTENT
    assert bytes_of(stored("a.txt", compress(ending, CONTENT))) == CONTENT


@pytest.mark.parametrize("ending", COMPRESSION_ENDINGS)
def test_bytes_that_are_neither_text_nor_compressed_raise_with_their_name(stored, ending):
    with pytest.raises(BitcipherError, match=r"noise\.txt.*If it is damaged"):
        bytes_of(stored(f"noise.txt{ending}", bytes(range(256)) * 9))


def test_missing_file_raises_with_its_name(tmp_path):
    with pytest.raises(BitcipherError, match=r"There is no file .*gone\.txt"):
        bytes_of(Source(uri=str(tmp_path / "gone.txt"), size=1, format="text"))


def test_folder_raises(tmp_path):
    with pytest.raises(BitcipherError, match="Cannot read"):
        bytes_of(Source(uri=str(tmp_path), size=1, format="text"))


class GuardedFileSystem(MemoryFileSystem):
    """File system without read permission. A disk would not do, because root can read all files."""

    protocol = "guarded"

    def _open(self, path, *args, **settings):
        raise PermissionError("Access Denied")


def test_file_without_read_permission_raises_with_its_name():
    fsspec.register_implementation("guarded", GuardedFileSystem, clobber=True)
    with pytest.raises(BitcipherError, match=r"Cannot read guarded://a\.txt: Access Denied"):
        bytes_of(Source(uri="guarded://a.txt", size=1, format="text"))


def test_stream_is_closed_when_the_block_ends_early(stored):
    with open_decompressed(stored("a.txt", CONTENT)) as stream:
        stream.readline()
    assert stream.closed
