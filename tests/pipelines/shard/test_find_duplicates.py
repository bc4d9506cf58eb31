import document_shards
import pyarrow as pa
import pytest

from bitcipher.errors import BitcipherError
from bitcipher.files import parquet_files


def test_keys_with_other_columns_raise(tmp_path):
    first = document_shards.write_lines(tmp_path / "a.jsonl", "The cat sat on the mat.")
    second = document_shards.write_lines(tmp_path / "b.jsonl", "The dog ran to the door.")
    document_shards.make_shards(tmp_path / "out", first)
    (keys,) = (tmp_path / "out/keys/documents").iterdir()
    parquet_files.write_table(str(keys), pa.table({"key": [1]}))
    with pytest.raises(BitcipherError, match=rf"{keys} is damaged: it has other columns"):
        document_shards.make_shards(tmp_path / "out", second)
