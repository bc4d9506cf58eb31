import io
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import ReadOptions, read_chunks, read_source

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


@pytest.mark.parametrize("values", [[1, 2], [["list"]], [{"a": "struct"}]])
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


def test_damaged_row_group_is_one_bad_record(stored):
    texts = [" ".join(f"word{number * row}" for number in range(200)) for row in range(30)]
    columns = {"text": texts}
    whole = bytearray(
        parquet(
            columns,
            compression="zstd",
            use_dictionary=False,
            row_group_size=10,
            write_page_checksum=True,
            write_statistics=False,
        )
    )
    metadata = pq.ParquetFile(io.BytesIO(whole)).metadata
    start = metadata.row_group(1).column(0).data_page_offset + 60
    whole[start : start + 40] = bytes(40)
    source = stored("damaged.parquet", bytes(whole))
    quarantine = Quarantine(source.uri, 1.0)
    documents = list(read_source(source, OPTIONS, quarantine))
    assert ["".join(document.strings) for document in documents] == texts[:10] + texts[20:]
    assert [document.offset for document in documents] == [*range(1, 11), *range(21, 31)]
    ((offset, reason, _, _, records),) = quarantine.kept
    assert (offset, reason, records, quarantine.read) == (11, "damaged", 10, 30)


def test_times_are_dates_in_iso_format(stored):
    time = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    for values, expected in (
        (pa.array([time, None], pa.timestamp("ns", "UTC")), "2024-05-06T07:08:09.000000000Z"),
        (pa.array([time.replace(tzinfo=None), None], pa.timestamp("s")), "2024-05-06T07:08:09.000"),
        (pa.array([time.date(), None], pa.date32()), "2024-05-06"),
        (pa.array(["yesterday", None]), "yesterday"),
        (pa.array([2**62, None], pa.timestamp("us")), None),
    ):
        columns = {"text": ["a", "b"], "date": values, "url": ["http://a", "http://b"]}
        first, second = read_source(stored("a.parquet", parquet(columns)), OPTIONS)
        assert expected is None or first.date == expected
        assert (first.url, second.date) == ("http://a", "")


def test_large_values_are_bad(stored):
    source = stored("a.parquet", parquet({"text": ["a", "x" * (1 << 20), "x" * ((1 << 20) + 1), None, "b"]}))
    options = ReadOptions(max_record_mib=1, max_bad_share=1.0)
    quarantine = Quarantine(source.uri, 1.0)
    documents = list(read_source(source, options, quarantine))
    assert [(document.offset, len("".join(document.strings))) for document in documents] == [
        (1, 1),
        (2, 1 << 20),
        (4, 0),
        (5, 1),
    ]
    assert [(record.offset, record.reason) for record in quarantine.kept] == [(3, "too large")]


def test_columns_of_the_same_name_raise_or_are_ignored(stored):
    names = ["text", "url", "url"]
    table = pa.table([pa.array(["a"])] * 3, names=names)
    stream = io.BytesIO()
    pq.write_table(table, stream)
    source = stored("a.parquet", stream.getvalue())
    assert [document.url for document in read_source(source, OPTIONS)] == [""]
    with pytest.raises(BitcipherError, match="has 2 columns 'url'"):
        read(source, ReadOptions(field="url"))
