"""Lines as many tools write them: separators, blanks, line ends, encodings and headers."""

import gzip
import warnings

import numpy as np
import pytest

from bitcipher import BitcipherError
from bitcipher.formats.reader import read

PLAIN = {"the": [0.1, 0.2, 0.3], "cat": [4, -5, 6e-3]}
LINES = "the 0.1 0.2 0.3\ncat 4 -5 6e-3\n"
HEADED = "2 3\n" + LINES


def read_bytes(tmp_path, content: bytes, **settings) -> dict[str, list[float]]:
    (tmp_path / "vectors").write_bytes(content)
    table = read(tmp_path / "vectors", **settings)
    return dict(zip(table.index_to_key, np.asarray(table.vectors).tolist(), strict=True))


def as_float32(expected: dict[str, list[float]]) -> dict[str, list[float]]:
    return {word: np.float32(values).tolist() for word, values in expected.items()}


@pytest.mark.parametrize("text", [LINES, HEADED], ids=["headerless", "header"])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-32"),
        lambda text: gzip.compress(text.encode("utf-16")),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: (text + "\n \t\n\n").encode(),
        lambda text: text.replace("\n", " \t \n").encode(),
        lambda text: text.rstrip().encode(),
        lambda text: text.replace(" ", "\t").encode(),
        lambda text: text.replace(" ", "  ").encode(),
        lambda text: text.replace(" ", " \t ").encode(),
        lambda text: text.replace("the ", "the\t").replace("cat ", "cat\t").encode(),
        lambda text: text.replace("4", "+4.0").replace("6e-3", "6.0E-03").encode(),
    ],
)
def test_other_spelling_of_the_same_lines_is_read(tmp_path, text, change):
    with warnings.catch_warnings(action="error"):
        assert read_bytes(tmp_path, change(text)) == as_float32(PLAIN)


@pytest.mark.parametrize("text", [LINES, HEADED], ids=["headerless", "header"])
@pytest.mark.parametrize(
    ("change", "decision"),
    [
        (lambda text: text.replace("\n", "\r\r\n"), "blank lines"),
        (lambda text: text.replace("\n", "\n\n"), "blank lines"),
        (lambda text: text.replace("\n", "\n \t\n"), "blank lines"),
        (lambda text: "\n\n" + text, "2 blank lines"),
        (lambda text: text.replace("the ", "the     ").replace("cat ", "cat     "), "2 words .* several spaces"),
    ],
)
def test_blank_lines_and_padded_words_are_read_with_a_warning(tmp_path, text, change, decision):
    with pytest.warns(UserWarning, match=decision) as warned:
        assert read_bytes(tmp_path, change(text).encode()) == as_float32(PLAIN)
    assert len(warned) == 1


@pytest.mark.parametrize("header", ["", "2 3\n"], ids=["headerless", "header"])
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("the,0.1,0.2,0.3\ncat,4,-5,6\n", "has commas in its values"),
        ("the 0.1,0.2,0.3\ncat 4,-5,6\n", "has commas in its values"),
        ("the 0.1, 0.2, 0.3\ncat 4, -5, 6\n", "has commas in its values"),
        ("the, 0.1, 0.2, 0.3\ncat, 4, -5, 6\n", "has commas in its values"),
        ("the 0,1 0,2 0,3\ncat 4,0 -5,0 6,0\n", "has commas in its values"),
        ("the;0.1;0.2;0.3\ncat;4;-5;6\n", "has semicolons in its values"),
        ("the\t0.1;0.2;0.3\ncat\t4;-5;6\n", "has semicolons in its values"),
        ("the 0,1;0,2;0,3\ncat 4;-5;6\n", "has (semicolons|commas) in its values"),
        ("the|0.1|0.2|0.3\ncat|4|-5|6\n", "has vertical bars in its values"),
        ("the [0.1, 0.2, 0.3]\ncat [4, -5, 6]\n", "has brackets in its values"),
        ("the [0.1 0.2 0.3]\ncat [4 -5 6]\n", "has brackets in its values"),
        ("the (0.1;0.2;0.3)\ncat (4;-5;6)\n", "has brackets in its values"),
        ("the: 0.1 0.2 0.3\ncat: 4 -5 6\n", "words of .* are followed by colons"),
        ("the = 0.1 0.2 0.3\ncat = 4 -5 6\n", "(followed by equals signs|holds '=')"),
        ("the [ 0.1 0.2 0.3 ]\ncat [ 4 -5 6 ]\n", "has brackets in its values"),
        ("'the' 0.1 0.2 0.3\n'cat' 4 -5 6\n", "words of .* are followed by quotes"),
        ('"the" 0.1 0.2 0.3\n"cat" 4 -5 6\n', "words of .* are followed by quotes"),
        ("the 0.1 0.2 0.3\ncat 4 -5\n", "Line . of .* has 2 values after its word instead of 3"),
        ("the 0.1 0.2 0.3\ncat 4 -5 x6\n", "Line . of .* holds 'x6' instead of a number"),
        ("the 0.1 0.2 0.3\ncat 4 -5 1_000\n", "Line . of .* holds '1_000' instead of a number"),
        ("the 0.1 0.2 0.3\ncat 4 -5 inf\n", "'cat' .* holds a value that is not finite"),
        ("<html>\n<body>\n", "is a web page|is not a word followed by numbers"),
    ],
)
def test_other_separators_and_damage_are_named(tmp_path, header, lines, message):
    for change in (str.encode, lambda text: text.encode("utf-16"), lambda text: gzip.compress(text.encode())):
        with pytest.raises(BitcipherError, match=message):
            read_bytes(tmp_path, change(header + lines))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "utf-16-be", "shift_jis"])
@pytest.mark.parametrize("header", ["", "2 3\n"], ids=["headerless", "header"])
def test_unnamed_encodings_are_refused(tmp_path, header, encoding):
    word = "日本" if encoding == "shift_jis" else "café"
    with pytest.raises(BitcipherError, match=r"UTF-8|UTF-16|not a word followed by numbers"):
        read_bytes(tmp_path, f"{header}{word} 0.1 0.2 0.3\ncat 4 -5 6\n".encode(encoding))


def test_text_is_never_binary_even_if_its_length_fits(tmp_path):
    # Each value field has 12 bytes, as three values of float32, and no byte is left over.
    for word in ("cat", "caf\xe9"):
        content = f"2 3\nthe 0.1,0.2,0.3\n{word} 0.4,0.5,0.6\n".encode("latin-1")
        with pytest.raises(BitcipherError, match="has commas in its values"):
            read_bytes(tmp_path, content)
    content = b"2 3\nthe 0.1,0.2,0.3\ncat 0.4,0.5,0.6\n"
    assert list(read_bytes(tmp_path, content, format="word2vec-binary")) == ["the", "cat"]  # the caller says so


def test_header_decides_if_all_lines_end_in_its_numbers(tmp_path):
    content = b"3 2\nroute 66 1 2\nblade runner 2049 3 4\nthe 5 6\n"
    with warnings.catch_warnings(action="error"):
        assert list(read_bytes(tmp_path, content)) == ["route 66", "blade runner 2049", "the"]
    with pytest.warns(UserWarning, match="ends in 3 numbers, but its header says 2 dimensions"):
        assert list(read_bytes(tmp_path, b"2 2\nroute 66 1 2\nroute 61 3 4\n")) == ["route 66", "route 61"]
    for content in (b"2 4\nthe 1 2 3\ncat 4 5 6\n", b"2 300\nnew york 1 2 3\ncat 4 5 6\n"):
        with pytest.raises(BitcipherError, match=r"header of .* says (4|300) dimensions, but its lines have 3"):
            read_bytes(tmp_path, content)
    with pytest.raises(BitcipherError, match="holds 3 words, but its header says 2"):
        read_bytes(tmp_path, b"2 2\nthe 1 2\ncat 3 4\ndog 5 6\n")


def test_separator_after_the_word_only_is_named(tmp_path):
    for separator, name in ((",", "commas"), (";", "semicolons"), (":", "colons"), ("=", "equals signs")):
        content = LINES.replace("the ", f"the{separator}").replace("cat ", f"cat{separator}")
        with pytest.raises(BitcipherError, match=f"words of .* are followed by {name}"):
            read_bytes(tmp_path, content.encode())


def test_unusual_spaces_and_numbers_in_words_give_a_warning(tmp_path):
    with pytest.warns(UserWarning, match="1 words of .* are followed by several spaces.*such as 'a'"):
        assert list(read_bytes(tmp_path, b"a  1 2\nb 3 4\n")) == ["a", "b"]
    with pytest.warns(UserWarning, match="1 words of .* begin with white space.*such as ' a'"):
        assert list(read_bytes(tmp_path, b" a 1 2\nb 3 4\nc 5 6\n")) == [" a", "b", "c"]
    with pytest.warns(UserWarning, match="1 words of .* end in a number.*such as 'route 66'"):
        assert list(read_bytes(tmp_path, b"route 66 1 2\nb 3 4\nc 5 6\n")) == ["route 66", "b", "c"]
    with pytest.raises(BitcipherError, match=r"Line 3 of .* has 1 values after its word instead of 2"):
        read_bytes(tmp_path, b"a 1 2\nb 3 4\nc 5\n")


def test_files_of_other_kinds_are_named(tmp_path):
    for content, message in (
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", r"fastText model"),
        (gzip.compress(b"\xba\x16\x4f\x2f\x0c\0\0\0"), r"fastText model"),
        (b"\x80\x04\x95", "pickle"),
        (b"\x93NUMPY\x01\0", "array without the words"),
        (b'\x40\0\0\0\0\0\0\0{"vectors"', "safetensors file without the words"),
        (b"BZh91AY&SY\0", "compressed with bzip2"),
        (b"\xfd7zXZ\0", "compressed with xz"),
        (b"\x28\xb5\x2f\xfd\x04", "compressed with Zstandard"),
        (b"\x04\x22\x4d\x18", "compressed with LZ4"),
        (b"2 3\nthe \0\0\0\0\0\0", "vectors ends within word 1 of 2"),
        (b"2 3\nthe \1\2\3\4", "neither the binary format .*ends within word 1 of 2.* nor text"),
    ):
        with pytest.raises(BitcipherError, match=message):
            read_bytes(tmp_path, content)
    with warnings.catch_warnings(action="error"):  # words, not magic bytes
        assert list(read_bytes(tmp_path, "BZh 1 2\nPK 3 4\n€ 5 6\n".encode())) == ["BZh", "PK", "€"]


def test_control_characters_do_not_make_text_binary(tmp_path):
    assert list(read_bytes(tmp_path, b"2 2\na\x01b 1 2\nc\x1f 3 4\n")) == ["a\x01b", "c\x1f"]
