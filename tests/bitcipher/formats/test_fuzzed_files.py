"""Reading arbitrary bytes gives a table or a BitcipherError, never another exception."""

import gzip
import warnings
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bitcipher import BitcipherError
from bitcipher.formats.reader import read
from bitcipher.table.vector_table import VectorTable

FILES = ["word2vec", "word2vec-binary", "glove", "parquet"]


def check_read(path, content: bytes) -> None:
    path.write_bytes(content)
    with warnings.catch_warnings(action="ignore"), suppress(BitcipherError):
        assert isinstance(read(path), VectorTable)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text("0123456789 \n\t.ae-", max_size=60).map(str.encode))
@example(b"1 1\n")
@example(b"0 0\n")
@example(b"0 3\na 1 2 3\n")
@example(b"3 0\na\nb\n")
@example(b"a 1\n" + gzip.compress(b"b 2"))
@example(gzip.compress(b""))
@example(b"99999999999999999999 99999999999999999999\na 1\n")
@example(b"\n\na 1\nb 2\n")
def test_arbitrary_bytes_give_a_table_or_an_error(tmp_path, content):
    check_read(tmp_path / "file", content)


@pytest.fixture(scope="module", params=FILES)
def whole(tmp_path_factory, table, request) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "file"
    table.export(request.param, path)
    return path.read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.data())
def test_changed_and_truncated_files_give_a_table_or_an_error(tmp_path, whole, data):
    content = bytearray(whole)
    for index in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=4)):
        content[index] ^= data.draw(st.integers(1, 255))
    check_read(tmp_path / "file", bytes(content[: data.draw(st.integers(0, len(whole)) | st.just(len(whole)))]))
