import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.ingest.readers import ReadOptions, read_chunks

OPTIONS = ReadOptions()
texts = st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])))


def parquet(columns, **settings):
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, **settings)
    return stream.getvalue()


def read(source, options=OPTIONS):
    return [chunk.text for chunk in read_chunks(source, options)]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
@given(texts=texts, rows=st.integers(1, 5))
@settings(max_examples=20)
def test_reader_returns_the_written_documents(stored, kind, compression, texts, rows):
    columns = {"id": list(range(len(texts))), "text": pa.array(texts, kind)}
    source = stored("a.parquet", parquet(columns, row_group_size=rows, compression=compression))
    assert read(source) == [text for text in texts if text and text.strip()]


def test_rows_of_several_batches_are_in_order(stored):
    texts = [f"document {number}" for number in range(1000)]
    assert read(stored("a.parquet", parquet({"text": texts}, row_group_size=300))) == texts


def test_field_option_selects_the_column(stored):
    source = stored("a.parquet", parquet({"text": ["t"], "meta.body": ["b"]}))
    assert read(source, ReadOptions(field="meta.body")) == ["b"]


def test_bytes_that_are_not_utf8_are_replaced(stored):
    broken = pa.array([b"caf\xe9", b"ok"], pa.binary())
    texts = pa.StringArray.from_buffers(2, *broken.buffers()[1:])
    assert read(stored("a.parquet", parquet({"text": texts}))) == ["caf\ufffd", "ok"]


def test_missing_column_raises_with_the_existing_columns(stored):
    with pytest.raises(BitcipherError, match=r"no column 'text'; its columns are title, body"):
        read(stored("a.parquet", parquet({"title": ["t"], "body": ["b"]})))


@pytest.mark.parametrize("values", [[1, 2], [b"bytes"], [["list"]], [{"a": "struct"}]])
def test_column_of_another_type_raises(stored, values):
    with pytest.raises(BitcipherError, match=r"column 'text' of .* not string"):
        read(stored("a.parquet", parquet({"text": values})))


def test_truncated_file_raises_with_its_name(stored):
    whole = parquet({"text": ["one", "two"]})
    for length in range(1, len(whole)):
        with pytest.raises(BitcipherError, match=r"Cannot read .*cut\.parquet"):
            read(stored("cut.parquet", whole[:length]))


def test_page_that_arrow_skips_raises_with_the_file_name(stored):
    whole = bytearray(parquet({"text": ["one", "two"]}))
    page_kind = len(b"PAR1") + 1  # the first value of the first page header
    whole[page_kind] ^= 0b10
    with pytest.raises(BitcipherError, match=r"damaged\.parquet is damaged: rows 1 to 2 cannot be read"):
        read(stored("damaged.parquet", bytes(whole)))


def test_damaged_page_raises_with_the_file_name(stored):
    whole = bytearray(parquet({"text": ["word " * 1000]}, compression="zstd", use_dictionary=False))
    whole[30:60] = bytes(30)
    with pytest.raises(BitcipherError, match=r"Cannot read .*damaged\.parquet"):
        read(stored("damaged.parquet", bytes(whole)))
