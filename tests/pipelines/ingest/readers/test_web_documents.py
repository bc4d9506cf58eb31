import gzip
import subprocess
import sys
import zlib

import pytest
from made_archives import arc_record, http_response, page, warc_record

from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import ReadOptions, read_source

TEXT = "This paragraph is the main text of the page, and it is long enough to be found."
PAGE = page(TEXT).encode()
ALL = ReadOptions(max_bad_share=1.0)


def read(source, options=ALL):
    """Return the texts of the documents, the skip reasons, and the reasons of bad records."""
    quarantine = Quarantine(source.uri, options.max_bad_share)
    documents = list(read_source(source, options, quarantine))
    assert quarantine.read == quarantine.documents + quarantine.skipped + quarantine.bad
    return ["".join(each.strings) for each in documents], dict(quarantine.skip_reasons), dict(quarantine.reasons)


def test_page_is_a_document_with_its_url_date_and_language(stored):
    language = ["WARC-Identified-Content-Language: eng,fra"]
    source = stored("a.warc", warc_record("response", http_response(PAGE), headers=language))
    (document,) = read_source(source, ALL)
    assert document == ((TEXT,), 0, "http://example.org/", "2024-05-06T07:08:09Z", "eng,fra")


def test_only_web_pages_are_documents(stored):
    records = [
        warc_record("warcinfo", b"software: a test"),
        warc_record("request", b"GET / HTTP/1.1\r\n\r\n"),
        warc_record("response", http_response(PAGE)),
        warc_record("response", http_response(PAGE, status="404 Not Found")),
        warc_record("response", http_response(b"\x89PNG", media_type="image/png")),
        warc_record("response", http_response(b"plain", media_type="text/plain; charset=utf-8")),
        warc_record("resource", b"a resource", headers=["Content-Type: text/plain"]),
        warc_record("revisit", b""),
        warc_record("conversion", b"converted"),
        warc_record("response", b"no header"),
    ]
    texts, skipped, bad = read(stored("a.warc", b"".join(records)))
    assert texts == [TEXT, "plain", "a resource", "converted"]
    assert skipped == {
        "warcinfo record": 1,
        "request record": 1,
        "revisit record": 1,
        "status 404": 1,
        "not a web page": 1,
    }
    assert bad == {"no HTTP status": 1}


def test_arc_records_are_documents(stored):
    records = [
        arc_record("filedesc://a.arc", b"1 0 Test\n"),
        arc_record("http://example.org/a b", http_response(PAGE)),
        arc_record("dns:example.org", b"20080430204825\nexample.org. IN A 192.0.2.1\n", media_type="text/dns"),
    ]
    source = stored("a.arc", b"".join(records))
    (document,) = read_source(source, ALL)
    assert (document.strings, document.url) == ((TEXT,), "http://example.org/a b")
    assert document.date == "2008-04-30T20:48:25Z"
    assert read(source)[1] == {"warcinfo record": 1, "not a web page": 1}


@pytest.mark.parametrize(
    ("headers", "encode"),
    [
        (["Content-Encoding: gzip"], gzip.compress),
        (["Content-Encoding: deflate"], zlib.compress),
        (["Transfer-Encoding: chunked"], lambda body: b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)),
        (["Content-Encoding: gzip", "Transfer-Encoding: chunked"], lambda body: body),  # decoded by the crawler
    ],
)
def test_encoded_bodies_are_decoded(stored, headers, encode):
    record = warc_record("response", http_response(encode(PAGE), headers=headers))
    assert read(stored("a.warc", record)) == ([TEXT], {}, {})


def test_damaged_bodies_are_bad(stored):
    body = gzip.compress(PAGE)
    body = body[:40] + bytes(20) + body[60:]
    record = warc_record("response", http_response(body, headers=["Content-Encoding: gzip"]))
    assert read(stored("a.warc", record)) == ([], {}, {"not text": 1})


@pytest.mark.parametrize(
    ("charset", "codec"),
    [("; charset=windows-1251", "cp1251"), ("", "cp1251"), ("", "utf-16"), ("; charset=UTF-8", "cp1252")],
)
def test_encoding_of_a_page_is_detected(stored, charset, codec):
    text = (
        "Это главный текст страницы, который достаточно длинный." if codec != "cp1252" else "Café: déjà vu à Orléans."
    )
    body = page(text).encode(codec)
    record = warc_record("response", http_response(body, media_type=f"text/html{charset}"))
    assert read(stored("a.warc", record))[0] == [text]


def test_declared_encoding_of_a_page_is_used(stored):
    body = page("naïve Straße").replace("<head>", '<head><meta charset="iso-8859-15">').encode("iso-8859-15")
    assert read(stored("a.warc", warc_record("response", http_response(body))))[0] == ["naïve Straße"]
    options = ALL.copy_with(encoding="cp1251")
    assert read(stored("a.warc", warc_record("response", http_response(body))), options)[0] != ["naïve Straße"]


@pytest.mark.parametrize("body", [b"<div>" * 50_000, b"<div " + b" ".join(b"a%d" % i for i in range(50_000)) + b">"])
def test_complex_pages_are_bad(stored, body):
    assert read(stored("a.warc", warc_record("response", http_response(body))))[2] == {"complex page": 1}


def test_bad_records_above_the_share_raise(stored):
    records = [warc_record("conversion", b"a"), warc_record("response", b"no header")]
    quarantine = Quarantine("a.warc", 0.5)
    assert len(list(read_source(stored("a.warc", b"".join(records)), ReadOptions(max_bad_share=0.5), quarantine))) == 1
    assert quarantine.bad == 1


# Reads a source with a small maximum size, and prints the added MiB and the reasons.
PEAK_PROGRAM = """
import os, resource, sys
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import ReadOptions, read_source
from pipelines.ingest.readers import arc, jsonl, text, warc
from pipelines.ingest.sources import Source
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
quarantine = Quarantine("bomb", 1.0)
source = Source(uri=sys.argv[1], size=os.path.getsize(sys.argv[1]), format=sys.argv[2])
documents = sum(1 for _ in read_source(source, ReadOptions(max_bad_share=1.0), quarantine))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) >> 10, documents, *quarantine.reasons)
"""


def fill(mib, head=b"", byte=b"\0"):
    """Return a gzip member of equal bytes, without having them in memory."""
    compressor = zlib.compressobj(9, wbits=31)
    parts = [compressor.compress(head), *(compressor.compress(byte * (1 << 20)) for _ in range(mib))]
    return b"".join([*parts, compressor.flush()])


@pytest.mark.long
@pytest.mark.parametrize("kind", ["record", "false length", "noise", "body", "header", "line"])
def test_bomb_of_200_mib_takes_less_than_64_mib(stored, kind):
    small = gzip.compress(warc_record("conversion", b"small"))
    head = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n"
    bomb = {
        "record": lambda: fill(200, head % (200 << 20)),
        "false length": lambda: fill(200, head % (300 << 20)),
        "noise": lambda: fill(200),
        "body": lambda: gzip.compress(
            warc_record("response", http_response(fill(200), headers=["Content-Encoding: gzip"]))
        ),
        "header": lambda: fill(200, b"WARC/1.0\r\nX: "),
        "line": lambda: fill(200, b'{"text": "', b"x"),
    }[kind]()
    source = stored("bomb.jsonl.gz" if kind == "line" else "bomb.warc.gz", small * (kind != "line") + bomb + small)
    command = [sys.executable, "-c", PEAK_PROGRAM, source.uri, source.format]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    print(kind, output)
    assert int(output[0]) < 64
    if kind != "line":
        assert output[1] == "2"  # both small records are read
