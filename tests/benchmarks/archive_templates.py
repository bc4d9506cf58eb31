"""Templates of generated web documents: real pages whose paragraphs are replaced by those of other texts.

A generated page has the markup, menus and scripts of a real page, and consecutive paragraphs of a book or an article.
Numbers and some names are respelled in each document, so that new words appear as in a real crawl.
"""

import gzip
import html
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text

from bitcipher.errors import BitcipherError
from pipelines.ingest.documents import read_documents
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers.text_encoding import SAMPLE_BYTES, NotTextError, choose_encoding
from pipelines.ingest.sources import list_sources

# Minimum number of characters of a paragraph that is replaced. Shorter ones are menus, titles and captions.
MIN_CHARACTERS = 80

# Maximum number of characters of a paragraph; longer ones are divided at the ends of sentences.
MAX_CHARACTERS = 600

# Bytes of text that are held in memory.
MAX_TEXT_BYTES = 64 << 20

# Characters of a page. Larger ones are rare, and make the number of pages per gigabyte uncertain.
MAX_PAGE_CHARACTERS = 1 << 20

TEXT_FORMATS = ("text", "jsonl", "parquet", "wet")

PARAGRAPH = re.compile(rf"(?<=>)[^<>]{{{MIN_CHARACTERS},}}(?=</p>)", re.IGNORECASE)
LINE = re.compile(rf"^.{{{MIN_CHARACTERS},}}$", re.MULTILINE)

SENTENCES = re.compile(rf".{{{MIN_CHARACTERS},{MAX_CHARACTERS}}}(?:[.!?](?=\s)|$)")

VOWELS, CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"


@dataclass(frozen=True)
class Template:
    """A document with slots for paragraphs.

    Attributes:
        parts: the bytes before, between and after the slots.
        paragraphs: the original paragraphs of the slots.
    """

    parts: tuple[bytes, ...]
    paragraphs: tuple[bytes, ...]

    def fill(self, paragraphs: Iterator[bytes]) -> bytes:
        """Return the document with other paragraphs."""
        slots = (next(paragraphs) for _ in self.paragraphs)
        return b"".join(chain.from_iterable(zip(self.parts, chain(slots, [b""]), strict=True)))


@dataclass(frozen=True)
class Material:
    """Real documents from which web documents are generated.

    Attributes:
        pages: HTML pages with slots.
        texts: plain text of pages with menus, as in WET files, with slots.
        documents: the paragraphs of each book or article.
    """

    pages: list[Template]
    texts: list[Template]
    documents: list[list[bytes]]


class Variation:
    """Consistent respelling of numbers and of some names in a document."""

    def __init__(self, chance: random.Random):
        self._digits = _permutation(chance, "0123456789")
        self._letters = _permutation(chance, VOWELS, CONSONANTS)
        initials = "".join(chance.sample("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 4))
        self._names = re.compile(rb"(?<=[a-z,] )[%s][a-z]{3,}" % initials.encode())

    def apply(self, text: bytes) -> bytes:
        """Return the text with other digits and names."""
        return self._names.sub(lambda match: match[0].translate(self._letters), text.translate(self._digits))


def _permutation(chance: random.Random, *groups: str) -> bytes:
    """Return a table for `bytes.translate` that permutes the characters of each group."""
    shuffled = ["".join(chance.sample(group, len(group))) for group in groups]
    return bytes.maketrans("".join(groups).encode(), "".join(shuffled).encode())


def read_material(data: list[Path]) -> Material:
    """Read the pages, archives and texts below folders.

    Raises:
        SystemExit: if there are no pages, or no texts.
    """
    pages = [page for page in iter_pages(data) if len(page) <= MAX_PAGE_CHARACTERS]
    documents = list(_limited(_iter_documents(data)))
    if not pages or not documents:
        raise SystemExit("--data needs HTML pages or WARC files, and texts, such as JSON lines.")
    texts = (extract_plain_text(page, main_content=False) for page in pages)
    return Material(
        [make_template(page, PARAGRAPH) for page in pages],
        [make_template(text, LINE) for text in chain(texts, iter_texts(data, ("wet",))) if text.strip()],
        documents,
    )


def make_template(text: str, slot: re.Pattern[str]) -> Template:
    """Return a template whose slots are the matches of a pattern."""
    parts, paragraphs, stop = [], [], 0
    for match in slot.finditer(text):
        parts.append(text[stop : match.start()].encode(errors="replace"))
        paragraphs.append(match[0].encode(errors="replace"))
        stop = match.end()
    return Template((*parts, text[stop:].encode(errors="replace")), tuple(paragraphs))


def iter_pages(data: list[Path]) -> Iterator[str]:
    """Yield the HTML pages below folders: files, and responses in WARC files."""
    for path in sorted(file for folder in data for file in folder.rglob("*") if file.is_file()):
        if path.name.endswith((".html", ".html.gz")):
            content = path.read_bytes()
            yield from _decode(gzip.decompress(content) if path.suffix == ".gz" else content, None)
        elif path.name.endswith((".warc", ".warc.gz")):
            yield from _iter_responses(path)


def _iter_responses(path: Path) -> Iterator[str]:
    with open(path, "rb") as stored:
        try:
            for record in ArchiveIterator(stored, record_types=WarcRecordType.response):
                headers = record.http_headers
                if headers is None or headers.status_code != 200 or "html" not in (record.http_content_type or ""):
                    continue
                yield from _decode(record.reader.read(), record.http_charset)
        except OSError:  # some archives are broken on purpose
            return


def _decode(page: bytes, charset: str | None) -> Iterator[str]:
    """Yield the text of a page, unless it is binary data."""
    try:
        text = page.decode(choose_encoding(page[:SAMPLE_BYTES], charset), errors="replace")
        choose_encoding(text.encode(errors="replace")[:SAMPLE_BYTES], "utf-8")
    except NotTextError:
        return
    yield text


def iter_texts(data: list[Path], formats: tuple[str, ...]) -> Iterator[str]:
    """Yield the documents of the sources below folders that have one of the formats."""
    options = ReadOptions(max_bad_share=1)
    for source in list_sources([str(folder) for folder in data]):
        if source.format in formats:
            try:
                yield from read_documents(source, options)
            except BitcipherError:  # not a file of documents, or broken on purpose
                continue


def _iter_documents(data: list[Path]) -> Iterator[list[bytes]]:
    for text in iter_texts(data, TEXT_FORMATS):
        # The lines of a book are wrapped, and its paragraphs are separated by empty lines.
        paragraphs = text.split("\n\n") if text.count("\n\n") > 100 else text.split("\n")
        found = chain.from_iterable(SENTENCES.findall(" ".join(paragraph.split())) for paragraph in paragraphs)
        if document := [paragraph.strip().encode(errors="replace") for paragraph in found]:
            yield document


def _limited(documents: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    size = 0
    for document in documents:
        yield document
        size += sum(map(len, document))
        if size >= MAX_TEXT_BYTES:
            return


def escape(text: bytes) -> bytes:
    """Return text as HTML."""
    return html.escape(text.decode(), quote=False).encode()
