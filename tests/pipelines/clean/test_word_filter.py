import pytest

from bitcipher.errors import BitcipherError
from pipelines.clean.word_filter import extract_words, read_frequencies, read_words

WORDS = frozenset({"the", "cat", "sat", "dont", "whats", "true"})
# The form of the study's table, with a damaged word.
TABLE = (
    b",word,frequency\r\n0,the,9\r\n1,cat,3\r\n2,sat,2\r\n3,dont,1\r\n4,whats,1\r\n5,TRUE,1\r\n6,j\xef\xbf\xbdnos,1\r\n"
)


def test_extract_words_gives_lowercase_letters():
    assert extract_words("The cat's well-known 3 cats, don't!") == ["the", "cats", "wellknown", "cats", "dont"]
    # Names and split contractions are skipped, but the first word never is.
    assert extract_words("Peter saw Mary 's cat , did n't he ?") == ["peter", "saw", "cat", "did", "he"]
    assert extract_words("2012 ... --") == []
    assert extract_words("قال: «السَّلام»") == ["قال", "السلام"]


def test_read_words_from_lines_and_from_csv(tmp_path):
    (tmp_path / "words.txt").write_bytes(b"\xef\xbb\xbfthe\ncat\r\n\n sat \ndon't\nwhats\ntrue")
    assert read_words(str(tmp_path / "words.txt")) == WORDS
    (tmp_path / "words.csv").write_bytes(TABLE)
    assert read_words(str(tmp_path / "words.csv")) == WORDS | {"j\ufffdnos"}
    (tmp_path / "word.txt").write_text("word\nother\n")  # a list that begins with this word, not a CSV
    assert read_words(str(tmp_path / "word.txt")) == {"word", "other"}


def test_read_frequencies_from_csv(tmp_path):
    (tmp_path / "words.csv").write_bytes(TABLE + b"7,The,2\r\n")
    counts = read_frequencies(str(tmp_path / "words.csv"))
    assert counts == {"the": 11, "cat": 3, "sat": 2, "dont": 1, "whats": 1, "true": 1, "j\ufffdnos": 1}
    (tmp_path / "last.csv").write_text("count,word\n2,a\n3,b\n")
    assert read_frequencies(str(tmp_path / "last.csv")) == {"a": 2, "b": 3}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the\ncat\n", "no column of counts"),
        ("word,age\nthe,3\n", "columns word and frequency"),
        ("word,count\nthe,3\ncat,often\n", "line 3 .* must be an integer, got 'often'"),
        ("word,count\n1,3\n", "contains no words"),
    ],
)
def test_invalid_frequencies_raise(tmp_path, content, message):
    (tmp_path / "words").write_text(content)
    with pytest.raises(BitcipherError, match=message):
        read_frequencies(str(tmp_path / "words"))


def test_file_without_words_raises(tmp_path):
    (tmp_path / "none.txt").write_text("\n \n 12\n")
    with pytest.raises(BitcipherError, match="contains no words"):
        read_words(str(tmp_path / "none.txt"))
