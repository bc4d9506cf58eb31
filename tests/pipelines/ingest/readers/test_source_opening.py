import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from bitcipher.errors import BitcipherError
from pipelines.ingest.readers.byte_streams import open_decompressed
from pipelines.ingest.sources import COMPRESSION_ENDINGS, Source

CONTENT = "one\ntwo \u2028 three\r\nعربي 😀\n".encode() * 50


def bytes_of(source):
    with open_decompressed(source) as stream:
        return stream.read()


@pytest.mark.parametrize("ending", ["", *COMPRESSION_ENDINGS])
class TestEveryCompression:
    def test_gives_the_bytes_that_were_stored(self, stored, compress, ending):
        assert bytes_of(stored(f"a.txt{ending}", compress(ending, CONTENT))) == CONTENT

    def test_gives_the_bytes_of_all_members_of_a_file(self, stored, compress, ending):
        assert bytes_of(stored(f"a.txt{ending}", compress(ending, CONTENT) * 3)) == CONTENT * 3

    def test_endings_are_case_insensitive(self, stored, compress, ending):
        assert bytes_of(stored(f"A.TXT{ending.upper()}", compress(ending, CONTENT))) == CONTENT

    def test_leaves_out_a_byte_order_mark(self, stored, compress, ending):
        source = stored(f"a.txt{ending}", compress(ending, b"\xef\xbb\xbf" + CONTENT))
        assert bytes_of(source) == CONTENT

    def test_reads_from_a_store_that_is_no_disk(self, compress, ending):
        uri = f"memory://opening/a.txt{ending}"
        fsspec.filesystem("memory").pipe(uri, compress(ending, CONTENT))
        assert bytes_of(Source(uri=uri, size=1, format="text")) == CONTENT


@pytest.mark.parametrize("ending", COMPRESSION_ENDINGS)
def test_a_file_cut_anywhere_is_an_error_with_its_name(stored, compress, ending):
    whole = compress(ending, b"some words\n" * 3)
    for length in range(1, len(whole)):
        source = stored(f"cut.txt{ending}", whole[:length])
        with pytest.raises(BitcipherError, match=r"cut\.txt.*(truncated|damaged)"):
            bytes_of(source)


@pytest.mark.parametrize("ending", COMPRESSION_ENDINGS)
def test_a_file_in_another_form_than_its_ending_says_is_an_error_with_its_name(stored, ending):
    with pytest.raises(BitcipherError, match=r"plain\.txt.*damaged"):
        bytes_of(stored(f"plain.txt{ending}", CONTENT))


def test_a_missing_file_is_an_error_with_its_name(tmp_path):
    with pytest.raises(BitcipherError, match=r"There is no file .*gone\.txt"):
        bytes_of(Source(uri=str(tmp_path / "gone.txt"), size=1, format="text"))


def test_a_folder_is_an_error_with_its_name(tmp_path):
    with pytest.raises(BitcipherError, match="Cannot read"):
        bytes_of(Source(uri=str(tmp_path), size=1, format="text"))


class GuardedFileSystem(MemoryFileSystem):
    """File system without read permission. On a disk, the root user of a container could read everything."""

    protocol = "guarded"

    def _open(self, path, *args, **settings):
        raise PermissionError("Access Denied")


def test_a_file_that_may_not_be_read_is_an_error_with_its_name():
    fsspec.register_implementation("guarded", GuardedFileSystem, clobber=True)
    with pytest.raises(BitcipherError, match=r"Cannot read guarded://a\.txt: Access Denied"):
        bytes_of(Source(uri="guarded://a.txt", size=1, format="text"))


def test_the_stream_is_closed_when_the_reading_ends_early(stored):
    with open_decompressed(stored("a.txt", CONTENT)) as stream:
        stream.readline()
    assert stream.closed
