"""Generate archives of web documents from real pages and texts. The same seed gives the same bytes.

    python tests/benchmarks/make_archives.py --format warc --gigabytes 10 --out archives \
        --data ../shared/data/{web_html,commoncrawl,commoncrawl2,c4,c4_2,enwiki}

Formats: WARC files of `response` records with HTML, WET files of `conversion` records with text, and gzipped JSON lines
in C4's form. Each record of an archive is one gzip member, as in CommonCrawl. Prints the size as JSON.
"""

import argparse
import base64
import hashlib
import json
import random
import uuid
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from archive_templates import Material, Variation, escape, read_material
from isal import isal_zlib

GZIP = 31  # window bits of a gzip member; its time stamp is zero

DATE = "2024-05-18T01:58:10Z"

# Paragraphs of a document in C4's form: the median, and the standard deviation of the logarithm.
MEDIAN_PARAGRAPHS = 5
PARAGRAPHS_SIGMA = 0.8
MAX_PARAGRAPHS = 200

ENDINGS = {"warc": ".warc.gz", "wet": ".warc.wet.gz", "c4": ".json.gz"}


class Size(NamedTuple):
    """Size of generated archives; `bytes` are those of the uncompressed records."""

    files: int
    records: int
    bytes: int


class Generator:
    """Generator of records. A record depends only on the seed and its number."""

    def __init__(self, material: Material, seed: int):
        self._material = material
        self._seed = seed

    def record(self, format: str, number: int) -> bytes:
        """Return a record of a format."""
        chance = random.Random(f"{self._seed} {number}")
        uri = f"https://site-{chance.randrange(5000)}.example.org/{number}.html"
        paragraphs = self._iter_paragraphs(chance)
        if format == "c4":
            amount = chance.lognormvariate(0, PARAGRAPHS_SIGMA) * MEDIAN_PARAGRAPHS
            amount = min(1 + int(amount), MAX_PARAGRAPHS)
            text = "\n".join(next(paragraphs).decode() for _ in range(amount))
            return json.dumps({"text": text, "timestamp": DATE, "url": uri}).encode() + b"\n"
        if format == "wet":
            template = chance.choice(self._material.texts)
            return _conversion(uri, template.fill(paragraphs), chance)
        template = chance.choice(self._material.pages)
        return response_record(uri, template.fill(map(escape, paragraphs)), chance)

    def _iter_paragraphs(self, chance: random.Random) -> Iterator[bytes]:
        """Yield consecutive paragraphs of a document, from a random one on; at the end, those of another document."""
        variation = Variation(chance)
        while True:
            document = chance.choice(self._material.documents)
            for paragraph in document[chance.randrange(len(document)) :]:
                yield variation.apply(paragraph)


def response_record(uri: str, page: bytes, chance: random.Random) -> bytes:
    """Return a WARC record of a page in UTF-8. `chance` determines its ID."""
    http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(page)}\r\n\r\n".encode()
    fields = {
        "WARC-Payload-Digest": _digest(page),
        "Content-Type": "application/http; msgtype=response",
        "WARC-Identified-Payload-Type": "text/html",
    }
    return _warc_record("response", uri, fields, http + page, chance)


def _conversion(uri: str, text: bytes, chance: random.Random) -> bytes:
    fields = {"WARC-Block-Digest": _digest(text), "Content-Type": "text/plain"}
    return _warc_record("conversion", uri, fields, text, chance)


def _warc_record(record_type: str, uri: str, fields: dict[str, str], body: bytes, chance: random.Random) -> bytes:
    named = {
        "WARC-Type": record_type,
        "WARC-Target-URI": uri,
        "WARC-Date": DATE,
        "WARC-Record-ID": f"<urn:uuid:{uuid.UUID(int=chance.getrandbits(128), version=4)}>",
        **fields,
        "Content-Length": str(len(body)),
    }
    header = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return b"".join([b"WARC/1.0\r\n", header.encode(), b"\r\n", body, b"\r\n\r\n"])


def _digest(content: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(content, usedforsecurity=False).digest()).decode()


def write_archives(
    generator: Generator, format: str, target: Path, max_records: float, max_bytes: float, file_bytes: float
) -> Size:
    """Write archives until they have a number of records or of uncompressed bytes.

    Args:
        generator: generator of the records.
        format: "warc", "wet" or "c4".
        target: folder of the files, which is created.
        max_records, max_bytes: limits of all files.
        file_bytes: uncompressed bytes after which the next file begins.
    """
    target.mkdir(parents=True)
    records = total = 0
    for file_number in count():
        with open(target / f"{file_number:05d}{ENDINGS[format]}", "wb") as file:
            end = total + file_bytes
            while total < min(end, max_bytes) and records < max_records:
                record = generator.record(format, records)
                file.write(isal_zlib.compress(record, level=1, wbits=GZIP))
                total += len(record)
                records += 1
        if total >= max_bytes or records >= max_records:
            return Size(file_number + 1, records, total)
    raise AssertionError


def main() -> None:
    """Generate archives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", choices=ENDINGS, required=True, help="format of the archives")
    parser.add_argument("--gigabytes", type=float, default=float("inf"), help="GB of uncompressed records")
    parser.add_argument("--records", type=float, default=float("inf"), help="maximum number of records")
    parser.add_argument("--file-megabytes", type=float, default=256, help="MB of uncompressed records per file")
    parser.add_argument("--out", type=Path, required=True, help="folder of the archives, which must not exist")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="folders of pages, archives and texts")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.gigabytes == options.records == float("inf"):
        parser.error("give --gigabytes, --records or both")
    generator = Generator(read_material(options.data), options.seed)
    size = write_archives(
        generator,
        options.format,
        options.out,
        options.records,
        options.gigabytes * 1e9,
        options.file_megabytes * 1e6,
    )
    print(json.dumps(size._asdict()))


if __name__ == "__main__":
    main()
