import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.records import Record
from pipelines.store.ledger import EntryKind, Ledger


class Attempt(Record):
    attempt: int
    word: str = "naïve"


COUNTS = EntryKind("count", Attempt)
MERGES = EntryKind("merge", Attempt)


@pytest.fixture
def ledger(base_uri):
    return Ledger(storage.join(base_uri, "ledger"))


def test_empty_ledger_has_no_entries(ledger):
    assert ledger.find(COUNTS, "a") is None
    assert ledger.entries(COUNTS) == {}
    assert ledger.keys(COUNTS) == []
    ledger.clear()


def test_entries_are_found_by_kind_and_key(ledger):
    keys = ["3fa9/001", "3fa9/000", "77b0/000"]
    for number, key in enumerate(keys):
        assert ledger.record(COUNTS, key, Attempt(attempt=number)) == Attempt(attempt=number)
    ledger.record(MERGES, "3fa9/000", Attempt(attempt=7))
    assert ledger.find(MERGES, "3fa9/000") == Attempt(attempt=7)
    assert ledger.find(MERGES, "77b0/000") is None
    assert ledger.keys(COUNTS) == sorted(keys)
    assert {key: entry.attempt for key, entry in ledger.entries(COUNTS).items()} == {
        "3fa9/000": 1,
        "3fa9/001": 0,
        "77b0/000": 2,
    }
    ledger.clear()
    assert ledger.keys(COUNTS) == ledger.keys(MERGES) == []


def test_late_writer_gets_the_stored_entry(ledger):
    assert ledger.record(COUNTS, "a", Attempt(attempt=1)).attempt == 1
    assert ledger.record(COUNTS, "a", Attempt(attempt=2)).attempt == 1
    assert ledger.find(COUNTS, "a").attempt == 1


def test_concurrent_writers_get_the_same_entry(ledger):
    writers = 6
    barrier = threading.Barrier(writers)

    def record(number):
        barrier.wait()
        return ledger.record(COUNTS, "a", Attempt(attempt=number)).attempt

    with ThreadPoolExecutor(writers) as pool:
        assert set(pool.map(record, range(writers))) == {ledger.find(COUNTS, "a").attempt}


def test_each_call_takes_one_request(s3, faulty_s3):
    ledger = Ledger(storage.join(s3, "ledger"))
    ledger.record(COUNTS, "a", Attempt(attempt=1))
    ledger.find(COUNTS, "a")
    ledger.find(COUNTS, "b")
    assert [request.split()[0] for request in faulty_s3.requests] == ["PUT", "GET", "GET"]


def write_entry(ledger, content):
    with storage.writing(storage.join(ledger.uri, "count/a.json")) as stream:
        stream.write(content)


@pytest.mark.parametrize("content", [b"", bytes(20), b'{"attempt": '], ids=["empty", "zeros", "truncated"])
def test_incomplete_entry_counts_as_not_written(ledger, content):
    ledger.record(COUNTS, "b", Attempt(attempt=2))
    write_entry(ledger, content)
    assert ledger.find(COUNTS, "a") is None
    assert list(ledger.entries(COUNTS)) == ["b"]
    with pytest.raises(BitcipherError, match=r"ledger/count/a\.json is incomplete: run the same command again"):
        ledger.record(COUNTS, "a", Attempt(attempt=1))
    ledger.remove_incomplete(MERGES, COUNTS)
    assert ledger.keys(COUNTS) == ["b"]
    assert ledger.record(COUNTS, "a", Attempt(attempt=1)).attempt == 1


def test_entry_with_a_wrong_type_raises_with_its_file_name(ledger):
    write_entry(ledger, b'{"attempt": "1"}')
    record, fact = Attempt(attempt=1), "`attempt` must be an integer"
    for read in (
        lambda: ledger.find(COUNTS, "a"),
        lambda: ledger.entries(COUNTS),
        lambda: ledger.record(COUNTS, "a", record),
    ):
        with pytest.raises(BitcipherError, match=rf"ledger/count/a\.json.* {fact}"):
            read()
