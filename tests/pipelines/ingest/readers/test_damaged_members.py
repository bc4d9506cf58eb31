"""Files of two compressed members with damage in the second: no document is lost without an error or a bad record."""

import random
import sys

import lz4.frame
import pytest
from made_archives import warc_record

from bitcipher.errors import BitcipherError
from pipelines.ingest.content_kinds import COMPRESSION_ENDINGS
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import ReadOptions, read_source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

OPTIONS = ReadOptions(max_bad_share=1.0)
TEXTS = [f"Document {number} has some words of its own: {number**7}." for number in range(60)]
LINES = [f"{text}\n".encode() for text in TEXTS]
RECORDS = [warc_record("conversion", text.encode()) for text in TEXTS]
CONTENTS = {
    "a.txt": (b"".join(LINES[:30]), b"".join(LINES[30:])),
    "a.wet": (b"".join(RECORDS[:30]), b"".join(RECORDS[30:])),
}
SPLICES = [bytes(40), b"no stream", b"\x1f\x8b\x08\0", b"BZh9", b"\xfd7zXZ\0", b"\x04\x22\x4d\x18", b"\x28\xb5\x2f\xfd"]
HEADER_BYTES = 24


@pytest.fixture
def compress_checked(compress):
    """Function like `compress`, with the checksums that only the commands zstd and lz4 write by default."""

    def compress_checked(ending, content):
        if ending == ".zst":
            return zstd.compress(content, options={zstd.CompressionParameter.checksum_flag: 1})
        if ending == ".lz4":
            return lz4.frame.compress(content, content_checksum=True)
        return compress(ending, content)

    return compress_checked


def mutate(member, state):
    """Return a member with a change near its beginning or anywhere: a flipped bit, or a piece removed or replaced."""
    member = bytearray(member)
    start = state.randrange(state.choice([HEADER_BYTES, len(member)]))
    kind = state.randrange(4)
    if kind == 0:
        member[start] ^= 1 << state.randrange(8)
    elif kind == 1:
        del member[start : start + state.randint(1, 40)]
    elif kind == 2:
        member[start : start + state.randint(0, 40)] = state.choice(SPLICES)
    else:
        del member[max(1, start) :]
    return bytes(member)


def read(source):
    """Return the texts of the documents, and whether an error or a bad record reports a loss that names the source."""
    quarantine = Quarantine(source.uri, 1.0)
    texts = []
    message = ""
    try:
        for document in read_source(source, OPTIONS, quarantine):
            texts.append("".join(document.strings))
    except BitcipherError as error:
        message = str(error)
    reports = [*filter(None, [message]), *(record.message for record in quarantine.kept)]
    assert all(source.uri in report and "\n" not in report for report in reports)
    return texts, bool(reports)


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("ending", COMPRESSION_ENDINGS)
def test_damage_in_the_second_member_is_reported(stored, compress_checked, ending, name):
    state = random.Random(f"{name}{ending}")
    first, second = (compress_checked(ending, content) for content in CONTENTS[name])
    assert read(stored(name + ending, first + second)) == (TEXTS, False)
    lost = 0
    for _ in range(300):
        texts, is_reported = read(stored(name + ending, first + mutate(second, state)))
        assert is_reported or texts == TEXTS
        lost += len(texts) < len(TEXTS)
    assert lost > 200


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_zeros_between_and_after_members_are_padding(stored, compress, ending):
    first, second = (compress(ending, content) for content in CONTENTS["a.txt"])
    padding = bytes(512)
    assert read(stored(f"a.txt{ending}", first + padding + second + padding)) == (TEXTS, False)


@pytest.mark.parametrize("ending", COMPRESSION_ENDINGS)
def test_text_after_a_member_is_damage(stored, compress, ending):
    content = compress(ending, b"".join(LINES)) + b"some text\n"
    _, is_reported = read(stored(f"a.txt{ending}", content))
    assert is_reported
