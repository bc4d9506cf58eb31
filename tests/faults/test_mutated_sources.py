"""Random mutations of sources: every record is read or quarantined, without a crash, a hang or much memory."""

import gzip
import io
import json
import random
import resource
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_archives import http_response, page, warc_record
from mutations import mutate_bytes

from bitcipher.errors import BitcipherError
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import ReadOptions, read_source
from pipelines.ingest.sources import Source, format_of

TEXTS = [f"Text number {number} has some words, naïve ones too, and an end." * 3 for number in range(9)]
ARCHIVE = [
    warc_record("warcinfo", b"software: a test"),
    *(warc_record("conversion", text.encode()) for text in TEXTS[:3]),
    *(warc_record("response", http_response(page(text).encode())) for text in TEXTS[3:6]),
    warc_record("response", http_response(gzip.compress(page(TEXTS[6]).encode()), headers=["Content-Encoding: gzip"])),
]


def parquet():
    stream = io.BytesIO()
    table = pa.table({"text": TEXTS, "date": pa.array(range(9), pa.timestamp("us")), "url": TEXTS})
    pq.write_table(table, stream, row_group_size=3, compression="zstd")
    return stream.getvalue()


CONTENTS = {
    "a.warc": b"".join(ARCHIVE),
    "a.warc.gz": b"".join(map(gzip.compress, ARCHIVE)),
    "a.jsonl": "".join(json.dumps({"text": text, "n": 1}, ensure_ascii=False) + "\n" for text in TEXTS).encode(),
    "a.parquet": parquet(),
}
SPLICES = [
    bytes(40),
    b"\r\n\r\n",
    b"WARC/1.0\r\n",
    b"\x1f\x8b\x08\0",
    b"Content-Length: 99999999999\r\n",
    b"[" * 999,
]


@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CONTENTS)
def test_mutated_sources_are_read_or_refused(tmp_path, print_measurement, name, count):
    state = random.Random(name)
    options = ReadOptions(max_bad_share=1.0)
    path = tmp_path / name
    whole_files = documents = bad = 0
    longest = 0.0
    messages = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(count):
        content = mutate_bytes(CONTENTS[name], state, SPLICES)
        path.write_bytes(content)
        source = Source(uri=str(path), size=len(content), format=format_of(name))
        quarantine = Quarantine(source.uri, 1.0)
        started = time.perf_counter()
        try:
            for document in read_source(source, options, quarantine):
                "".join(document.strings).encode()
        except BitcipherError as error:
            whole_files += 1
            messages.append(str(error))
        longest = max(longest, time.perf_counter() - started)
        assert quarantine.read == quarantine.documents + quarantine.skipped + quarantine.bad
        documents += quarantine.documents
        bad += quarantine.bad
    added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    assert all(str(path) in message and "\n" not in message for message in messages)
    assert longest < 5
    assert added < 64
    print_measurement(
        f"{count:,} mutations, {documents:,} documents, {bad:,} bad records, {whole_files:,} files refused, "
        f"at most {longest * 1000:.0f} ms and {added} MiB"
    )
