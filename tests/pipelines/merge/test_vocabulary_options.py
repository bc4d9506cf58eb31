import numpy as np
import pyarrow as pa
import pytest

from bitcipher.errors import BitcipherError
from pipelines.merge.vocabulary import choose_vocabulary, read_word_list
from pipelines.options import BuildOptions


def counted(**counts):
    names = sorted(counts, key=str.encode)
    values = np.array([counts[name] for name in names])
    return pa.table({"word": pa.array(names, pa.large_string()), "count": values, "passages": np.minimum(values, 3)})


def test_vocabulary_follows_the_options(tmp_path):
    table = counted(the=9, cat=5, dog=5, rare=1)
    assert choose_vocabulary(table, 4, BuildOptions()).words.to_pylist() == ["the", "cat", "dog", "<oov>"]
    largest = choose_vocabulary(table, 4, BuildOptions(max_vocab_size=2))
    assert largest.words.to_pylist() == ["the", "<oov>", "cat"]  # dog and rare count as `<oov>`: 6
    (tmp_path / "list").write_text("rare\nunseen\n")
    listed = choose_vocabulary(table, 4, BuildOptions(word_list=str(tmp_path / "list")))
    assert sorted(listed.words.to_pylist()) == ["<oov>", "rare", "unseen"]


def test_known_words_keep_their_ranks():
    table = counted(the=9, cat=5, dog=7, new=6)
    known = pa.array(["cat", "the", "<oov>", "dog"], pa.large_string())
    assert choose_vocabulary(table, 4, BuildOptions(), known).words.to_pylist() == ["cat", "the", "<oov>", "dog", "new"]


def test_word_list_has_one_word_per_line(tmp_path):
    file = tmp_path / "words.txt"
    file.write_bytes("the\r\nnaïve\n\n a b \nlast".encode())
    assert read_word_list(str(file)) == ["the", "naïve", " a b ", "last"]
    file.write_bytes(b"the\n\xff")
    with pytest.raises(BitcipherError, match="is not UTF-8 text"):
        read_word_list(str(file))
