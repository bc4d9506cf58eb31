import pkgutil
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from pipelines.ingest import readers
from pipelines.ingest.content_kinds import COMPRESSION_ENDINGS
from pipelines.ingest.readers import ReadOptions, read_chunks
from pipelines.ingest.sources import FORMATS, Source, format_of

NAMES = ["a.txt", "a.jsonl", "a.parquet", "a.wet"]
# Prefixes that pass the first check of a reader, so that random bytes reach its other checks.
beginnings = st.sampled_from([b"", b"\xef\xbb\xbf", b'{"text": "', b"PAR1", b"WARC/1.0\r\n", b"\x1f\x8b\x08\0"])


def texts_or_error(source, options):
    try:
        return [chunk.text for chunk in read_chunks(source, options)], source.uri
    except BitcipherError as error:
        return [], str(error)


def test_every_format_has_a_reader():
    names = {module.name for module in pkgutil.iter_modules(readers.__path__)}
    assert names >= set(FORMATS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ending", ["", *COMPRESSION_ENDINGS])
@pytest.mark.parametrize("compressed", [False, True])
@given(beginning=beginnings, noise=st.binary(max_size=200), document=st.sampled_from(["line", "file"]))
@example(beginning=b"", noise=b"\r\n\r\n", document="line")
def test_random_bytes_give_texts_or_raise(stored, compress, name, ending, compressed, beginning, noise, document):
    content = compress(ending, beginning + noise) if compressed else beginning + noise
    source = stored(name + ending, content)
    source = Source(uri=source.uri, size=source.size, format=format_of(name))
    texts, message = texts_or_error(source, ReadOptions(document=document))
    assert source.uri in message
    assert all(text.strip().encode() for text in texts)


@pytest.mark.parametrize("ending", COMPRESSION_ENDINGS)
def test_damaged_bytes_give_texts_or_raise(stored, compress, ending):
    whole = compress(ending, b'{"text": "some words in a line"}\n' * 20)
    random_state = random.Random(1)
    for _ in range(200):
        damaged = bytearray(whole)
        for _ in range(random_state.randint(1, 4)):
            damaged[random_state.randrange(len(damaged))] = random_state.randrange(256)
        source = stored(f"damaged.jsonl{ending}", bytes(damaged))
        texts, message = texts_or_error(source, ReadOptions())
        assert source.uri in message
        assert all(text.strip().encode() for text in texts)


@pytest.mark.parametrize("name", [*NAMES, "a.txt.gz", "a.jsonl.zst", "a.wet.xz", "a.txt.bz2"])
def test_empty_file_has_no_documents(stored, name):
    assert [chunk.text for chunk in read_chunks(stored(name, b""), ReadOptions())] == []


def test_unknown_read_options_raise():
    with pytest.raises(BitcipherError, match="`document` must be line or file"):
        ReadOptions(document="page")
    with pytest.raises(BitcipherError, match="`field`"):
        ReadOptions(field="")
