"""Files that libraries of the field wrote, with random changes: documents are read back equal, refused, or named.

Nothing is read differently in silence: a result that differs has a bad record or a decision of the reader.
"""

import bz2
import codecs
import gzip
import io
import json
import lzma
import random
from collections import Counter

import lz4.frame
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from made_archives import page
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from bitcipher.errors import BitcipherError
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import ReadOptions, read_source
from pipelines.ingest.sources import list_sources

pytestmark = pytest.mark.slow

# Number of random changes per writer.
CHANGES = 2500

TEXTS = [
    "The museum in the harbor opened its doors again — “after three years”, they said.",
    "Человек шёл по длинной дороге и думал о том, что скоро наступит зима.",
    "L'été dernier, à Orléans, nous avons mangé une crème brûlée près de la forêt.",
    "古い港町の博物館は三年間の丁寧な修復を経て、昨年の春に再び開館しました。",
    "کتاب‌ها را بخوانم و به خانه می‌روم.",
    "Plain words of a page with nothing outside of ASCII in it, but a long sentence.",
]
COMPRESSIONS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".lz4": lz4.frame.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}
ENDINGS = [".txt", ".jsonl", ".json", ".ndjson", ".parquet", ".warc", ".wet", ".arrow"]
ENCODINGS = {
    "utf-8": b"",
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
}
# Declarations of pages in UTF-8, most of which are false.
CONTENT_TYPES = [
    *("text/html", "text/html; charset=utf-8", "text/html;charset=UTF-8", "text/html charset=utf-8", "TEXT/HTML"),
    *("text/html; charset=iso-8859-1", 'text/html; charset="windows-1252"', "text/html; charset='latin1'"),
    *("text/html; charset=shift_jis", "text/html; charset=gb2312", "text/html; charset=windows-1251"),
    *("text/html; charset=us-ascii", "text/html; charset=unknown-8bit", "application/xhtml+xml", "text/plain"),
    *("application/octet-stream", "", "html", "text/html, text/html", "unknown/unknown", "text/html; charset=utf-16"),
]


def read(path, options=None):
    """Return the texts of a file, and whether a decision or a bad record names what differs."""
    options = options or ReadOptions(max_bad_share=1.0)
    texts, is_named = [], False
    for source in list_sources([str(path)], options.format):
        quarantine = Quarantine(source.uri, options.max_bad_share)
        texts += ["".join(document.strings) for document in read_source(source, options, quarantine)]
        is_named = is_named or bool(quarantine.decisions or quarantine.bad or quarantine.counts.textless)
    return texts, is_named


def judge(path, expected, options=None):
    """Return "equal", "refused" or "named"; fail if the documents differ in silence."""
    try:
        texts, is_named = read(path, options)
    except BitcipherError:
        return "refused"
    if texts == expected:
        return "equal"
    assert is_named, (path, texts[:3])
    return "named"


def store(folder, number, name, content):
    path = folder / f"{number}{name}"
    path.write_bytes(content)
    return path


def change_text(content, state, *, has_blank_lines):
    """Return lines of UTF-8 with another encoding with its mark, line ends, and blank lines."""
    if has_blank_lines and state.random() < 0.5:
        content = content.replace("\n", "\n" + state.choice(["\n", "  \n", "\n\n"]))
    if state.random() < 0.5:
        content = content.replace("\n", "\r\n")
    encoding = state.choice([*ENCODINGS])
    if encoding == "utf-8-sig":
        return content.encode("utf-8-sig")
    return ENCODINGS[encoding] + content.encode(encoding)


def rename(ending, state):
    """Return a file ending with a compression, and the function of another one, as often as not."""
    if state.random() < 0.2:
        ending = state.choice(ENDINGS)
    named, actual = state.choice([*COMPRESSIONS]), state.choice([*COMPRESSIONS])
    return ending + named, COMPRESSIONS[actual]


def test_lines_of_text(tmp_path):
    state, outcomes = random.Random(1), Counter()
    for number in range(CHANGES):
        texts = state.sample(TEXTS, state.randint(2, len(TEXTS)))
        content = change_text("".join(f"{text}\n" for text in texts), state, has_blank_lines=False)
        name, compress = rename(".txt", state)
        outcomes[judge(store(tmp_path, number, name, compress(content)), texts)] += 1
    print(outcomes)
    assert outcomes["equal"] > CHANGES / 2


def test_json_lines_of_pandas(tmp_path):
    state, outcomes = random.Random(2), Counter()
    for number in range(CHANGES):
        texts = state.sample(TEXTS, state.randint(2, len(TEXTS)))
        frame = pd.DataFrame({"id": range(len(texts)), "text": texts})
        lines = frame.to_json(orient="records", lines=True, force_ascii=state.random() < 0.5)
        content = change_text(lines, state, has_blank_lines=True)
        name, compress = rename(".jsonl", state)
        outcomes[judge(store(tmp_path, number, name, compress(content)), texts)] += 1
    print(outcomes)
    assert outcomes["equal"] > CHANGES / 2


def warc_of(pages, state):
    """Return a WARC file of warcio with pages, whose declarations and names of fields vary."""
    stream = io.BytesIO()
    writer = WARCWriter(stream, gzip=False)
    for number, text in enumerate(pages):
        meta = state.choice(["", "<meta charset='utf-8'>", "<meta charset=iso-8859-1>", "<meta charset='cp1251'>"])
        head = state.choice(["", "<!DOCTYPE html>", "\ufeff<!doctype html>\n", "<!-- a comment -->\n"])
        html = head + page(text).replace("<head>", f"<head>{meta}")
        headers = [("Content-Type", value)] if (value := state.choice(CONTENT_TYPES)) else []
        response = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
        identified = {"WARC-Identified-Payload-Type": "text/html"} if state.random() < 0.5 else {}
        record = writer.create_warc_record(
            f"http://example.org/{number}",
            "response",
            payload=io.BytesIO(html.encode()),
            http_headers=response,
            warc_headers_dict=identified,
        )
        writer.write_record(record)
    content = stream.getvalue()
    spell = state.choice([bytes, bytes.lower, bytes.upper])
    for field in (b"WARC-Type:", b"Content-Length:", b"WARC-Target-URI:", b"WARC-Identified-Payload-Type:"):
        content = content.replace(b"\r\n" + field, b"\r\n" + spell(field))
    return content


def test_archives_of_warcio(tmp_path):
    state, outcomes = random.Random(3), Counter()
    for number in range(CHANGES):
        texts = state.sample(TEXTS, 3)
        content = warc_of(texts, state)
        name, compress = rename(".warc", state)
        outcomes[judge(store(tmp_path, number, name, compress(content)), texts)] += 1
    print(outcomes)
    assert outcomes["equal"] > CHANGES / 2


KINDS = [
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.large_binary(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.large_string()),
]


def test_tables_of_pyarrow_in_layouts_of_spark_and_hive(tmp_path):
    state = random.Random(4)
    for number in range(CHANGES // 10):
        texts = [f"{state.choice(TEXTS)} {row}" for row in range(state.randint(2, 40))]
        kind = state.choice(KINDS)
        urls = pa.array([f"http://example.org/{row}" for row in range(len(texts))])
        column = pa.array([text.encode() if pa.types.is_large_binary(kind) else text for text in texts])
        is_coded = pa.types.is_dictionary(kind)
        column = column.cast(kind.value_type).dictionary_encode() if is_coded else column.cast(kind)
        meta = pa.StructArray.from_arrays([urls], ["url"])
        table = pa.table({"text": column, "meta": meta, "day": pa.array(np.arange(len(texts)) % 3)})
        folder = tmp_path / str(number)
        partitions = state.choice([None, ["day"]])
        ds.write_dataset(
            table, folder, format="parquet", partitioning=partitions, partitioning_flavor="hive" if partitions else None
        )
        (folder / "_SUCCESS").touch()
        (folder / "_temporary" / "0").mkdir(parents=True)
        pq.write_table(table.slice(0, 1), folder / "_temporary" / "0" / "part-0.parquet")
        (folder / ".part-0.parquet.crc").write_bytes(b"crc")
        documents = []
        for source in list_sources([str(folder)]):
            documents += read_source(source, ReadOptions())
        assert sorted("".join(document.strings) for document in documents) == sorted(texts)
        assert sorted(document.url for document in documents) == sorted(urls.to_pylist())


def test_tables_with_other_names_and_compressions(tmp_path):
    state, outcomes = random.Random(5), Counter()
    for number in range(CHANGES):
        texts = state.sample(TEXTS, 4)
        stream = io.BytesIO()
        pd.DataFrame({"text": texts}).to_parquet(stream)
        name, compress = rename(".parquet", state)
        outcomes[judge(store(tmp_path, number, name, compress(stream.getvalue())), texts)] += 1
    print(outcomes)
    assert outcomes["equal"]
    assert outcomes["refused"]


def test_legacy_charsets_are_equal_or_named(tmp_path):
    state, outcomes = random.Random(6), Counter()
    charsets = ["cp1251", "koi8-r", "cp1252", "latin-1", "shift_jis", "euc-jp", "cp1256"]
    for number in range(CHANGES):
        charset = state.choice(charsets)
        texts = [text for text in TEXTS if text == text.encode(charset, "ignore").decode(charset)]
        lines = "".join(f"{text}\n" for text in texts) * state.randint(1, 3)
        path = store(tmp_path, number, ".txt", lines.encode(charset))
        expected = lines.split("\n")[:-1]
        outcomes[judge(path, expected)] += 1
        assert judge(path, expected, ReadOptions(encoding=charset)) == "equal"
    print(outcomes)


def test_details_of_json_lines_in_every_layout(tmp_path):
    state = random.Random(7)
    layouts = [
        lambda url: {"url": url},
        lambda url: {"meta": {"url": url}},
        lambda url: {"meta": json.dumps({"url": url})},
        lambda url: {"metadata": {"url": url, "language": "en"}},
        lambda url: {"warc_headers": {"warc-target-uri": url}},
        lambda url: {"meta": {"warc_headers": {"warc-target-uri": url}}},
        lambda url: {"metadata": {"WARC-Target-URI": url}},
        lambda url: {"meta.url": url, "meta": {"url": "http://other.example/"}},
    ]
    for number in range(CHANGES // 10):
        layout = state.choice(layouts)
        urls = [f"http://example.org/{number}/{row}" for row in range(5)]
        lines = "".join(json.dumps({"text": "words", **layout(url)}) + "\n" for url in urls)
        (source,) = list_sources([str(store(tmp_path, number, ".jsonl", lines.encode()))])
        assert [document.url for document in read_source(source, ReadOptions())] == urls
