import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bitcipher.counts.pairs import PairBlock, iter_pairs
from bitcipher.counts.segment import part_files, read_words, write_part
from bitcipher.errors import BitcipherError


@pytest.fixture
def parts(tmp_path):
    """Two parts with the same words and other counts."""
    numbers, ones = np.array([0, 1], np.int32), np.ones(1, np.int64)
    words = pa.array(["a", "b"], pa.large_string())
    for name, count in (("one", 1), ("two", 2)):
        block = PairBlock(numbers[:1], ones.astype(np.int16), ones, numbers[1:], ones * count)
        write_part(str(tmp_path / name), words, numbers, np.full(2, count), np.full(2, 1), [block])
    return tmp_path


def test_file_of_another_part_raises(parts):
    own, other = part_files(str(parts / "one")), part_files(str(parts / "two"))
    for mine, theirs, read in zip(own, other, (read_words, iter_pairs, iter_pairs), strict=True):
        kept = shutil.copy(mine, parts / "kept")
        shutil.copy(theirs, mine)
        with pytest.raises(BitcipherError, match=rf"{mine} is not the file .*written as 'two\."):
            [*read([str(parts / "one")])] if read is read_words else [*read(str(parts / "one"), 2)]
        shutil.copy(kept, mine)
    assert [block.count.tolist() for block in iter_pairs(str(parts / "one"), 2)] == [[1]]


def test_file_without_a_name_raises(parts):
    file = part_files(str(parts / "one"))[0]
    pq.write_table(pq.read_table(file).replace_schema_metadata(None), file)
    with pytest.raises(BitcipherError, match="has no name of a count file"):
        read_words([str(parts / "one")])


def test_moved_folder_is_read(parts, tmp_path):
    shutil.copytree(parts, tmp_path / "moved")
    assert read_words([str(tmp_path / "moved" / "one")])["count"].to_pylist() == [1, 1]
