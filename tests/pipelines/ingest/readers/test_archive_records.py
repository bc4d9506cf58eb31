import base64
import gzip
import hashlib
import itertools
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_archives import arc_record, warc_record

from pipelines.ingest.content_kinds import COMPRESSION_ENDINGS, compression_of_bytes
from pipelines.ingest.raw_documents import BadRecord
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.readers.archive_records import ARC, MAX_HEADER_BYTES, WARC, iter_records

OPTIONS = ReadOptions()
bodies = st.lists(st.binary(max_size=60) | st.sampled_from([b"\r\n\r\n", b"\n", b"WARC/1.0\n", b"\x1f\x8b\x08"]))
BODIES = [b"the first", b"the second body", b"three"]


def frame(source, syntax=WARC, options=OPTIONS):
    """Return the bodies of the records, their offsets, and the reasons of bad records."""
    records = list(iter_records(source, options, syntax))
    good = [record for record in records if not isinstance(record, BadRecord)]
    reasons = [record.reason for record in records if isinstance(record, BadRecord)]
    return [record.body for record in good], [record.offset for record in good], reasons


def members(contents):
    return [gzip.compress(content, mtime=0) for content in contents]


def block_digest(body):
    return f"WARC-Block-Digest: sha1:{base64.b32encode(hashlib.sha1(body).digest()).decode()}"


def offsets(parts):
    return list(itertools.accumulate(map(len, parts[:-1]), initial=0)) if parts else []


@given(bodies=bodies, cuts=st.lists(st.integers(0, 2000)))
def test_any_split_into_members_gives_the_written_records(stored, bodies, cuts):
    content = b"".join(warc_record("conversion", body) for body in bodies)
    ends = [0, *sorted({cut for cut in cuts if cut < len(content)}), len(content)]
    parts = [content[start:stop] for start, stop in itertools.pairwise(ends)]
    # A gzip member that begins in a body as a record does is taken for a record, because lengths can be wrong.
    starts = offsets([warc_record("conversion", body) for body in bodies])
    assume(all(start in starts or not content.startswith(b"WARC/", start) for start in ends))
    found, _, reasons = frame(stored("a.warc.gz", b"".join(members(parts)) or gzip.compress(b"")))
    assert found == bodies
    assert not reasons


@pytest.mark.parametrize("ending", ["", *COMPRESSION_ENDINGS])
@given(bodies=bodies)
def test_every_compression_gives_the_written_records(stored, compress, ending, bodies):
    records = [warc_record("conversion", body) for body in bodies]
    found, positions, reasons = frame(stored(f"a.warc{ending}", compress(ending, b"".join(records))))
    assert found == bodies
    assert not reasons
    if ending != ".gz":
        assert positions == offsets(records)


def test_offset_is_that_of_the_gzip_member(stored):
    parts = members(warc_record("conversion", body) for body in BODIES)
    assert frame(stored("a.warc.gz", b"".join(parts)))[1] == offsets(parts)
    whole = gzip.compress(b"".join(warc_record("conversion", body) for body in BODIES))
    assert frame(stored("a.warc.gz", whole))[1] == [0, 0, 0]


@given(noise=st.lists(st.binary(min_size=1, max_size=60) | st.just(b"\x1f\x8b\x08\0\0\0\0\0"), min_size=4, max_size=4))
def test_only_noise_between_members_is_lost(stored, noise):
    assume(compression_of_bytes(noise[0]) in ("", ".gz"))  # the first bytes of a file decide about its compression
    parts = members(warc_record("conversion", body) for body in BODIES)
    content = noise[0] + b"".join(part + each for part, each in zip(parts, noise[1:], strict=True))
    found, _, reasons = frame(stored("a.warc.gz", content))
    assert found == BODIES
    assert len(reasons) == sum(bool(each.strip(b"\0")) for each in noise)  # zeros are padding
    assert set(reasons) <= {"damaged", "truncated"}


def test_damage_in_a_member_loses_only_this_member(stored):
    parts = members(warc_record("conversion", body * 9) for body in BODIES)
    for position, value in itertools.product(range(len(parts[1])), (0x01, 0x80, 0xFF)):
        damaged = bytearray(parts[1])
        damaged[position] ^= value
        found, _, reasons = frame(stored("a.warc.gz", parts[0] + damaged + parts[2]))
        true = [body * 9 for body in BODIES]
        assert (found, reasons) in ((true, []), ([true[0], true[2]], ["damaged"])), position


@pytest.mark.parametrize("ending", ["", *COMPRESSION_ENDINGS])
def test_truncation_is_noticed_at_every_byte_of_the_last_record(stored, compress, ending):
    records = [warc_record("conversion", body) for body in BODIES]
    first = b"".join(compress(ending, record) for record in records[:2])
    last = compress(ending, records[2])
    for length in range(len(last) + 1):
        found, _, reasons = frame(stored(f"a.warc{ending}", first + last[:length]))
        is_whole = length == len(last) or (not ending and length >= len(last) - len(b"\r\n\r\n"))
        if is_whole:
            assert (found, reasons) == (BODIES, [])
        elif not length:
            assert (found, reasons) == (BODIES[:2], [])
        elif ending in (".xz", ".lz4", ".bz2", ".zst"):
            # The decompressor reports damage before or after it returns the bytes that precede it.
            assert found in (BODIES, BODIES[:2], BODIES[:1], [])
            assert reasons or found == BODIES
        else:
            assert (found, reasons) == (BODIES[:2], ["truncated"])


@pytest.mark.parametrize("ending", ["", ".gz", "whole.gz"])
@pytest.mark.parametrize("syntax", [WARC, ARC])
def test_false_length_swallows_no_later_record(stored, ending, syntax):
    def make(body, length=None):
        return arc_record("http://a.org/", body, length) if syntax is ARC else warc_record("response", body, length)

    following = [make(body) for body in BODIES[1:]]
    for length in [*range(900), 20 << 20, 10**12, 10**17]:
        records = [make(BODIES[0], length), *following]
        parts = members(records) if ending == ".gz" else records
        content = gzip.compress(b"".join(parts)) if ending == "whole.gz" else b"".join(parts)
        found, _, reasons = frame(stored(f"a.{'gz' if ending else 'warc'}", content), syntax)
        assert found[-2:] == BODIES[1:], length
        assert len(found) + len(reasons) == 3, length
        if len(found) == 3:  # a length that also covers the empty lines after the record adds no text
            assert found[0].strip() == BODIES[0], length


def test_noise_in_an_uncompressed_file_loses_only_the_noise(stored):
    records = [warc_record("conversion", body, headers=[block_digest(body)]) for body in BODIES]
    found, _, reasons = frame(stored("a.warc", b"noise\r\n".join([b"", *records])))
    assert (found, reasons) == (BODIES, ["not a record"] * 3)


def test_page_that_contains_a_record_is_whole_if_its_digest_or_its_member_proves_it(stored):
    quoted = b"A record:\r\n\r\n" + warc_record("conversion", b"quoted")
    proved = warc_record("conversion", quoted, headers=[block_digest(quoted)])
    unproved = warc_record("conversion", quoted)
    assert frame(stored("a.warc", proved + proved))[0] == [quoted, quoted]
    assert frame(stored("a.warc.gz", b"".join(members([warc_record("warcinfo", b""), unproved]))))[0] == [b"", quoted]
    found, _, reasons = frame(stored("a.warc", unproved))
    assert (found, reasons) == ([b"quoted"], ["wrong length"])


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_large_records_are_skipped(stored, compress, ending):
    large = bytes(2 << 20)
    records = [warc_record("conversion", body) for body in (BODIES[0], large, BODIES[1])]
    content = b"".join(compress(ending, record) for record in records)
    found, _, reasons = frame(stored(f"a.warc{ending}", content), options=ReadOptions(max_record_mib=1))
    assert (found, reasons) == (BODIES[:2], ["too large"])


@pytest.mark.parametrize(
    "header",
    [
        "X: " + "x" * MAX_HEADER_BYTES,
        "X: " + "x" * (1 << 14),
        "\r\n".join(["X: x"] * 1001),
    ],
)
def test_large_headers_are_refused(stored, header):
    records = [warc_record("conversion", b"one", headers=[header]), warc_record("conversion", b"two")]
    for content in (b"".join(records), b"".join(members(records))):
        found, _, reasons = frame(stored("a.warc.gz" if content[0] == 31 else "a.warc", content))
        assert (found, reasons) == ([b"two"], ["large header"])


@pytest.mark.parametrize("ending", [".xz", ".zst", ".bz2", ".lz4"])
def test_damaged_stream_loses_the_rest(stored, compress, ending):
    text = " ".join(random.Random(1).choices(["some", "words", "of", "a", "page"], k=800_000)).encode()
    records = [warc_record("conversion", text[at : at + 9999]) for at in range(0, len(text), 9999)]
    whole = compress(ending, b"".join(records))
    damaged = whole[: len(whole) - 50_000] + bytes(1000) + whole[len(whole) - 49_000 :]
    found, _, reasons = frame(stored(f"a.warc{ending}", damaged))
    assert len(reasons) == 1
    assert 0 < len(found) < len(records)


def test_padding_with_zeros_is_no_damage(stored):
    parts = members(warc_record("conversion", body) for body in BODIES)
    found, _, reasons = frame(stored("a.warc.gz", bytes(512).join(parts) + bytes(100_000)))
    assert (found, reasons) == (BODIES, [])
