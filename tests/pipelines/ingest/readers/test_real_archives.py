"""Real archives and pages in ../shared/data, against warcio and against texts that people extracted.

Run with `pytest -m slow -s`; the tests print the tables of pipelines/ingest/README.md.
"""

import gzip
import json
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.raw_documents import BadRecord
from pipelines.ingest.readers import ReadOptions, read_source
from pipelines.ingest.readers.archive_records import ARC, WARC, iter_records
from pipelines.ingest.sources import Source, format_of

DATA = Path(__file__).parents[5] / "shared" / "data"
BENCHMARK = DATA / "web_html" / "article_extraction_benchmark"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not DATA.exists(), reason=f"there is no {DATA}")]

ARCHIVES = sorted(
    path for folder in ("commoncrawl", "commoncrawl2") for path in (DATA / folder).rglob("*") if format_of(path.name)
)

# Archives that warcio reads differently: records and bad records found here, and the reason.
DIFFERENCES = {
    "bad.arc": (0, 2, "lengths are negative or not numbers"),
    "cc-test.warc.gz": (35, 1, "all records are in one member, which is truncated"),
    "corrupt_starts_with_conversion.wet.gz": (6, 0, "all records are in one member"),
    "corrupt_two_warcinfo.wet.gz": (7, 0, "all records are in one member"),
    "corrupt_warcconversion_1.wet.gz": (6, 0, "all records are in one member"),
    "corrupt_warcconversion_2.wet.gz": (2, 0, "all records are in one member"),
    "corrupt_warcinfo_1.wet.gz": (6, 0, "all records are in one member"),
    "example-bad-non-chunked.warc.gz": (6, 0, "all records are in one member"),
    "example-space-in-url.arc": (1, 1, "the last body is shorter than its length"),
    "example-trunc.warc": (3, 1, "one body is shorter than its length"),
    "example-wrong-chunks.warc.gz": (2, 0, "warcio takes the body for a record"),
    "file_and_wet_headers_only.wet.gz": (0, 2, "bodies are missing"),
    "file_headers_only.wet.gz": (0, 1, "the body is missing"),
    "filter_test_1.wet.gz": (26, 0, "all records are in one member"),
    "fragment1_asthma_incomplete_last.wet.gz": (1, 2, "lengths are wrong, and the end is missing"),
    "fragment1_incomplete_last.wet.gz": (2, 1, "the end is missing"),
    "fragment2_no_header.wet.gz": (1, 2, "the beginning and the end are missing"),
    "fragment3.wet.gz": (6, 0, "all records are in one member"),
    "appended_zip_fragment_unexpected_eof.wet.gz": (16, 1, "the last member is truncated"),
    "sample.warc.gz": (5, 13, "line endings were converted, so lengths are wrong"),
    "sample.wet.gz": (59, 10, "line endings were converted, so lengths are wrong"),
    "warcfile.warc.lz4": (50, 0, "warcio does not read lz4"),
    "IAH-20080430204825-00000-blackbook-truncated.arc": (
        9,
        0,
        "one of two copies has an empty line that warcio refuses",
    ),
}


def read_with_warcio(path):
    """Return URI, type and block of each record, and the offsets."""
    records, offsets = [], []
    with path.open("rb") as stream:
        iterator = ArchiveIterator(stream, no_record_parse=True)
        try:
            for record in iterator:
                headers = record.rec_headers
                uri = headers.get_header("WARC-Target-URI") or headers.get_header("uri") or ""
                records.append((uri.strip("<>").replace("%20", " "), record.rec_type, record.raw_stream.read()))
                offsets.append(iterator.get_record_offset())  # reads to the end of the record
        except ArchiveLoadFailed:
            pass
    return records, offsets


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.name)
def test_every_archive_is_read_as_warcio_reads_it_or_quarantined(path):
    source = Source(uri=str(path), size=path.stat().st_size, format=format_of(path.name))
    options = ReadOptions(max_bad_share=1.0)
    found = list(iter_records(source, options, ARC if source.format == "arc" else WARC))
    records = [record for record in found if not isinstance(record, BadRecord)]
    quarantine = Quarantine(source.uri, 1.0)
    started = time.process_time()
    for document in read_source(source, options, quarantine):
        assert all(isinstance(string, str) for string in document.strings)
    assert time.process_time() - started < 5
    assert quarantine.read == quarantine.documents + quarantine.skipped + quarantine.bad == len(found)
    skipped = sorted(quarantine.skip_reasons.items())
    print(f"\n{path.name}: {quarantine.documents} documents, {skipped}, bad {sorted(quarantine.reasons.items())}")
    if path.name in DIFFERENCES:
        *counts, _ = DIFFERENCES[path.name]
        assert [len(records), len(found) - len(records)] == counts
        return
    expected, offsets = read_with_warcio(path)
    assert len(records) == len(found) == len(expected) > 0
    if source.format == "arc":  # warcio takes the beginning of the first body for a part of the header
        assert records[0].body.endswith(expected[0][2])
        del records[0], expected[0], offsets[0]
    assert [record.body for record in records] == [block for _, _, block in expected]
    assert [record.offset for record in records] == offsets
    for record, (uri, record_type, _) in zip(records, expected, strict=True):
        header = record.header.decode("utf-8", errors="replace")
        assert uri in header.replace("%20", " ")
        assert source.format == "arc" or f"WARC-Type: {record_type}".lower() in header.lower()


def score(extracted, gold):
    """Return F1, precision and recall of texts, as the article extraction benchmark computes them.

    The shares of true positive, false positive and false negative shingles of four words are averaged over pages.
    """
    totals = dict.fromkeys(("true", "added", "missing"), 0.0)
    for name, text in gold.items():
        expected, found = shingles(text), shingles(extracted[name])
        counts = [(expected & found).total(), (found - expected).total(), (expected - found).total()]
        for key, count in zip(totals, counts, strict=True):
            totals[key] += count / max(1, sum(counts))
    precision = totals["true"] / (totals["true"] + totals["added"])
    recall = totals["true"] / (totals["true"] + totals["missing"])
    return 2 * precision * recall / (precision + recall), precision, recall


def shingles(text):
    words = re.findall(r"\w+", text or "")
    if len(words) < 4:
        return Counter([tuple(words)] if words else [])
    return Counter(tuple(words[start : start + 4]) for start in range(len(words) - 3))


def test_main_text_is_close_to_that_of_people():
    trafilatura = pytest.importorskip("trafilatura", exc_type=ImportError)
    from resiliparse.extract.html2text import extract_plain_text

    from pipelines.ingest.readers.web_documents import _main_text

    truth = json.loads((BENCHMARK / "ground-truth.json").read_text())
    gold = {name: page["articleBody"] for name, page in truth.items()}
    pages = {name: gzip.decompress((BENCHMARK / "html" / f"{name}.html.gz").read_bytes()).decode() for name in gold}
    extractors = {
        "main text": _main_text,
        "resiliparse, main_content only": lambda page: extract_plain_text(page, main_content=True),
        "resiliparse, all text": extract_plain_text,
        "trafilatura": lambda page: trafilatura.extract(page, include_comments=False) or "",
    }
    figures = {}
    for name, extract in extractors.items():
        started = time.process_time()
        texts = {key: extract(page) for key, page in pages.items()}
        seconds = time.process_time() - started
        figures[name] = score(texts, gold)
        print(
            f"| {name} | " + " | ".join(f"{value:.3f}" for value in figures[name]) + f" | {len(pages) / seconds:.0f} |"
        )
    assert figures["main text"][0] > 0.93
    assert figures["main text"][0] > figures["resiliparse, main_content only"][0] > figures["resiliparse, all text"][0]
    assert figures["trafilatura"][0] - figures["main text"][0] < 0.03
