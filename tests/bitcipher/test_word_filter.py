import pytest

from bitcipher.errors import BitcipherError
from bitcipher.word_filter import read_frequencies, read_words, words_of

WORDS = frozenset({"the", "cat", "sat", "dont", "whats", "true"})
# As the study's own table is written, with bytes that are not UTF-8.
TABLE = b",word,frequency\r\n0,the,9\r\n1,cat,3\r\n2,sat,2\r\n3,dont,1\r\n4,whats,1\r\n5,TRUE,1\r\n6,j\xe1nos,1\r\n"


def test_words_are_letters_between_spaces_in_lower_case():
    assert words_of("The cat's well-known 3 cats, don't!") == ["the", "cats", "wellknown", "cats", "dont"]
    # Names pass, the first word never does, and so do what tokenizers cut from contractions.
    assert words_of("Peter saw Mary 's cat , did n't he ?") == ["peter", "saw", "cat", "did", "he"]
    assert words_of("2012 ... --") == []
    assert words_of("قال: «السَّلام»") == ["قال", "السلام"]


def test_words_are_read_from_lines_and_from_the_study_s_table(tmp_path):
    (tmp_path / "words.txt").write_bytes(b"\xef\xbb\xbfthe\ncat\r\n\n sat \ndon't\nwhats\ntrue")
    assert read_words(str(tmp_path / "words.txt")) == WORDS
    (tmp_path / "words.csv").write_bytes(TABLE)
    assert read_words(str(tmp_path / "words.csv")) == WORDS | {"j\ufffdnos"}
    (tmp_path / "word.txt").write_text("word\nother\n")  # a list that begins with this word, not a table
    assert read_words(str(tmp_path / "word.txt")) == {"word", "other"}


def test_counts_are_read_where_a_table_has_them(tmp_path):
    (tmp_path / "words.csv").write_bytes(TABLE + b"7,The,2\r\n")
    counts = read_frequencies(str(tmp_path / "words.csv"))
    assert counts == {"the": 11, "cat": 3, "sat": 2, "dont": 1, "whats": 1, "true": 1, "j\ufffdnos": 1}
    (tmp_path / "last.csv").write_text("count,word\n2,a\n3,b\n")
    assert read_frequencies(str(tmp_path / "last.csv")) == {"a": 2, "b": 3}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("the\ncat\n", "does not tell how often words occur"),
        ("word,age\nthe,3\n", "give a CSV with columns word and frequency"),
        ("word,count\nthe,3\ncat,often\n", "The count 'often' in line 3 of "),
        ("word,count\n1,3\n", "holds no words"),
    ],
)
def test_what_has_no_counts_is_told(tmp_path, content, said):
    (tmp_path / "words").write_text(content)
    with pytest.raises(BitcipherError, match=said):
        read_frequencies(str(tmp_path / "words"))


def test_a_file_without_words_is_told(tmp_path):
    (tmp_path / "none.txt").write_text("\n \n 12\n")
    with pytest.raises(BitcipherError, match="holds no words"):
        read_words(str(tmp_path / "none.txt"))
