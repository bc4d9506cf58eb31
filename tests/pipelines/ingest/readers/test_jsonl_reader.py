import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.ingest.readers import ReadOptions, read_chunks

OPTIONS = ReadOptions()
texts = st.lists(st.text(st.characters(exclude_categories=["Cs"])))


def read(source, options=OPTIONS):
    return [chunk.text for chunk in read_chunks(source, options)]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@given(texts=texts, ascii_only=st.booleans())
def test_reader_returns_the_written_documents(stored, compress, ending, texts, ascii_only):
    lines = [json.dumps({"id": 7, "text": text}, ensure_ascii=ascii_only) for text in texts]
    source = stored(f"a.jsonl{ending}", compress(ending, "\n".join(lines).encode()))
    assert read(source) == [text for text in texts if text.strip()]


def test_unicode_line_separators_do_not_end_a_line(stored):
    text = "one\u2028two\u2029three\x85four"
    content = json.dumps({"text": text}, ensure_ascii=False).encode()
    assert read(stored("a.jsonl", content + b"\r\n\r\n" + content)) == [text, text]


def test_null_and_blank_texts_are_skipped(stored):
    assert read(stored("a.jsonl", b'{"text": null}\n{"text": " \\n"}\n \n{"text": "a"}\n')) == ["a"]


def test_field_option_selects_the_text(stored):
    assert read(stored("a.jsonl", b'{"body": "b", "text": "t"}'), ReadOptions(field="body")) == ["b"]


def test_bytes_that_are_not_utf8_are_replaced(stored):
    lines = '{"text": "naïve"}\n'.encode() + b'{"text": "caf\xe9"}'
    assert read(stored("a.jsonl", lines)) == ["naïve", "caf\ufffd"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "b"', "is not JSON"),
        (b'{"text": "b"}, ', "is not JSON"),
        (b'{"text": "\\ud800"}', "is not JSON"),
        (b'{"text": "b \xff"', "is not JSON"),
        (b'{"title": "b", "n": 1}', r"no field 'text'"),
        (b'{"text": 3.5}', "is a number"),
        (b'{"text": false}', "is true or false"),
        (b'{"text": ["b"]}', "is a list"),
        (b'{"text": {"b": 1}}', "is an object"),
        (b'[{"text": "b"}]', "is a list"),
        (b'"b"', "is a string"),
        (b"null", "is null"),
    ],
)
def test_invalid_line_raises_with_file_and_line_number(stored, line, reason):
    source = stored("invalid.jsonl", b'{"text": "a"}\n\n' + line + b"\n")
    with pytest.raises(BitcipherError, match=reason) as error:
        read(source)
    assert source.uri in str(error.value)
    assert "ine 3 " in str(error.value)


def test_documents_before_an_invalid_line_are_yielded(stored):
    documents = read_chunks(stored("invalid.jsonl", b'{"text": "a"}\n{'), OPTIONS)
    assert next(documents).text == "a"
    with pytest.raises(BitcipherError):
        next(documents)


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, b'{"text": "' + b"\\" * 99_999])
def test_nesting_bombs_are_not_json(stored, line):
    with pytest.raises(BitcipherError, match="is not JSON"):
        read(stored("a.jsonl", b'{"text": "a"}\n' + line))
