import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import ReadOptions, read_chunks, text_encoding
from pipelines.ingest.readers.text_encoding import choose_encoding

FRENCH = "L'été dernier, à Orléans, nous avons mangé une crème brûlée près de la forêt, où le garçon était très gêné."
RUSSIAN = "Человек шёл по длинной дороге и думал о том, что скоро наступит зима и выпадет первый снег."
ENCODINGS = [
    (FRENCH, "cp1252"),
    (FRENCH, "utf-8-sig"),
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8-r"),
    (RUSSIAN, "utf-16"),
    (RUSSIAN, "utf-32"),
    ("한국어 문장은 이렇게 씁니다. 오늘은 날씨가 아주 좋아서 산책을 했습니다.", "euc-kr"),
    ("人間の心には互に矛盾した二つの感情がある。勿論、誰でも他人の不幸に同情しない者はない。", "shift-jis"),
]


def read(source, options=None):
    return [chunk.text for chunk in read_chunks(source, options or ReadOptions())]


@pytest.mark.parametrize(("text", "encoding"), ENCODINGS)
def test_encodings_are_detected(stored, text, encoding):
    assert read(stored("a.txt", f"{text}\n{text}".encode(encoding))) == [text, text]
    lines = "\n".join(json.dumps({"text": text}, ensure_ascii=False) for _ in range(2))
    assert read(stored("a.jsonl", lines.encode(encoding))) == [text, text]


@pytest.mark.parametrize(("text", "encoding"), ENCODINGS)
def test_encoding_option_is_used(stored, text, encoding):
    options = ReadOptions(encoding=encoding)
    assert read(stored("a.txt", text.encode(encoding)), options) == [text]


@given(lines=st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1), min_size=1))
def test_utf_16_is_decoded_across_the_sample(stored, lines):
    content = "".join(json.dumps({"text": f"x{line}"}, ensure_ascii=False) + "\n" for line in lines).encode("utf-16")
    try:
        text_encoding.SAMPLE_BYTES = 7
        assert read(stored("a.jsonl", content)) == [f"x{line}" for line in lines]
    finally:
        text_encoding.SAMPLE_BYTES = 1 << 20


def test_bytes_of_another_encoding_after_the_sample_are_replaced_and_counted(stored):
    content = b"some words\n" * 100_000 + FRENCH.encode("cp1252")
    source = stored("a.txt", content)
    quarantine = Quarantine(source.uri, 0)
    *_, last = (chunk.text for chunk in read_chunks(source, ReadOptions(), quarantine))
    assert last == FRENCH.encode("cp1252").decode(errors="replace")
    assert quarantine.replacements == last.count("\ufffd") > 9


def test_encoding_does_not_depend_on_the_bytes_after_the_sample():
    sample = (FRENCH.encode("cp1252") * 99)[: text_encoding.SAMPLE_BYTES]
    assert choose_encoding(sample) == ("cp1252", "guessed")


def test_character_at_the_end_of_the_sample_may_be_incomplete():
    assert choose_encoding("é".encode()[:1]).codec == "utf-8"


@pytest.mark.parametrize(
    "content",
    [
        b"BM6\0\0\0\0\0\0\x06\0\0\0" * 9,
        bytes(100),
        "English text in UTF-16.".encode("utf-16-le"),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
@pytest.mark.parametrize("document", ["line", "file"])
def test_binary_files_are_refused(stored, content, name, document):
    source = stored(name, content)
    with pytest.raises(BitcipherError, match=r"is binary data.*not text.*`encoding`") as error:
        read(source, ReadOptions(document=document))
    assert source.uri in str(error.value)


@pytest.mark.parametrize(
    ("content", "noun"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "a PDF file"),
        (b"PK\x03\x04\x14\0\0\0\x08\0", "a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (b"PAR1" + bytes(range(32)) * 9, "a Parquet file"),
        (gzip.compress(gzip.compress(b"twice", mtime=0), mtime=0), "compressed twice"),
    ],
    ids=["PDF", "ZIP", "PNG", "Parquet", "gzip twice"],
)
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.txt.gz"])
def test_binary_files_are_named(stored, content, noun, name):
    source = stored(name, content)
    with pytest.raises(BitcipherError, match=f"is {noun}, and its name is that of") as error:
        read(source)
    assert source.uri in str(error.value)
    assert "ownload" not in str(error.value)


@pytest.mark.parametrize("name", ["undefined", "idna", "base64", "latin-99", "", "rot13"])
def test_unknown_encodings_are_refused(name):
    with pytest.raises(BitcipherError, match="`encoding` must be an encoding that Python knows"):
        ReadOptions(encoding=name)


def test_encoding_that_does_not_fit_raises(stored):
    with pytest.raises(BitcipherError, match=r"a\.txt cannot be decoded as utf-16: .*Set `encoding`"):
        list(read_chunks(stored("a.txt", b"words"), ReadOptions(encoding="utf-16")))
