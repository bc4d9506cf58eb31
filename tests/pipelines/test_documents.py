import json
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.storage import files_below, remove
from pipelines import documents
from pipelines.documents import DocumentShard, read_document_shard, write_document_shards

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))


def utf8(text):
    return len(text.encode())


@given(texts=texts, shard_bytes=st.integers(1, 60), group_bytes=st.integers(1, 30))
def test_documents_come_back_in_order_from_shards_of_the_size_asked_for(texts, shard_bytes, group_bytes):
    remove("memory://shards")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "ROW_GROUP_BYTES", group_bytes)
        shards = list(write_document_shards(iter(texts), "memory://shards", "00003", shard_bytes))
    contents = [read_document_shard(shard.uri).to_pylist() for shard in shards]
    assert [text for content in contents for text in content] == texts
    for number, (shard, content) in enumerate(zip(shards, contents, strict=True)):
        assert shard == DocumentShard(
            f"00003-{number:03d}",
            f"memory://shards/00003-{number:03d}.parquet",
            len(content),
            sum(map(utf8, content)),
        )
        assert sum(map(utf8, content[:-1])) < shard_bytes
        assert shard.text_bytes >= shard_bytes or shard is shards[-1]


def test_no_documents_make_no_file(tmp_path):
    assert list(write_document_shards(iter([]), str(tmp_path / "out"), "00000", 100)) == []
    assert not (tmp_path / "out").exists()


def test_a_shard_is_given_as_soon_as_it_is_whole(tmp_path):
    endless = (f"document {number}" for number in iter(int, 1))
    shards = list(islice(write_document_shards(endless, str(tmp_path), "00000", 20), 3))
    assert [shard.documents for shard in shards] == [2, 2, 2]
    assert [len(read_document_shard(shard.uri)) for shard in shards] == [2, 2, 2]


def test_the_file_is_parquet_as_others_read_it(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "ROW_GROUP_BYTES", 10)
    [shard] = write_document_shards(iter(["seven b", "seven c", "seven d"]), str(tmp_path), "00000", 1000)
    file = pq.ParquetFile(shard.uri)
    assert file.schema_arrow == pa.schema([pa.field("text", pa.large_string(), nullable=False)])
    assert [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)] == [2, 1]
    column = file.metadata.row_group(0).column(0)
    assert column.compression.startswith("LZ4")
    assert not column.has_dictionary_page
    assert column.statistics is None


def test_the_same_documents_give_the_same_bytes(tmp_path):
    texts = ["one", "zwei \u2028", "ثلاثة", "😀"] * 50
    for folder in ("a", "b"):
        list(write_document_shards(iter(texts), str(tmp_path / folder), "00000", 300))
    names = list(files_below(str(tmp_path / "a")))
    assert names == list(files_below(str(tmp_path / "b")))
    assert len(names) > 1
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


def test_an_array_is_contiguous_over_all_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "ROW_GROUP_BYTES", 1)
    [shard] = write_document_shards(iter(["a", "b", "c"]), str(tmp_path), "00000", 1000)
    array = read_document_shard(shard.uri)
    assert isinstance(array, pa.LargeStringArray)
    assert array.null_count == 0
    assert array.buffers()[2].to_pybytes() == b"abc"


def test_rows_are_plain_values_that_give_the_shard_back():
    shard = DocumentShard("00000-001", "memory://shards/00000-001.parquet", 12, 345)
    assert DocumentShard.from_row(json.loads(json.dumps(shard.to_row()))) == shard


class TestErrors:
    def test_documents_that_fail_leave_whole_shards_only(self, tmp_path):
        def failing():
            yield from ["one", "two", "three"]
            raise BitcipherError("the source is cut short")

        shards = write_document_shards(failing(), str(tmp_path), "00000", 6)
        assert next(shards).documents == 2
        with pytest.raises(BitcipherError, match="cut short"):
            next(shards)
        assert list(files_below(str(tmp_path))) == ["00000-000.parquet"]

    def test_a_lone_surrogate_is_told_with_its_place(self, tmp_path):
        with pytest.raises(BitcipherError, match=r"character 5 is half a surrogate pair .*ud83d.*after 'words'"):
            list(write_document_shards(iter(["fine", "words\ud83d"]), str(tmp_path), "00000", 100))
        assert files_below(str(tmp_path)) == {}

    def test_a_document_that_parquet_cannot_hold(self, tmp_path, monkeypatch):
        monkeypatch.setattr(documents, "LARGEST_DOCUMENT_BYTES", 10)
        with pytest.raises(BitcipherError, match=r"11 bytes is too long \(at most 10\)"):
            list(write_document_shards(iter(["x" * 10, "x" * 11]), str(tmp_path), "00000", 100))

    def test_a_missing_shard(self, tmp_path):
        with pytest.raises(BitcipherError, match=r"There is no file .*00000-000\.parquet"):
            read_document_shard(str(tmp_path / "00000-000.parquet"))

    def test_a_shard_cut_anywhere(self, tmp_path):
        [shard] = write_document_shards(iter(["one"]), str(tmp_path), "00000", 100)
        whole = (tmp_path / "00000-000.parquet").read_bytes()
        for length in range(len(whole)):
            (tmp_path / "00000-000.parquet").write_bytes(whole[:length])
            with pytest.raises(BitcipherError, match=r"Cannot read the shard .*00000-000\.parquet"):
                read_document_shard(shard.uri)

    def test_another_parquet_file(self, tmp_path):
        pq.write_table(pa.table({"title": ["a"], "text": ["b"]}), tmp_path / "other.parquet")
        with pytest.raises(BitcipherError, match=r"other\.parquet is no shard of documents"):
            read_document_shard(str(tmp_path / "other.parquet"))
