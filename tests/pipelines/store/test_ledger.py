import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.store.ledger import Ledger


@pytest.fixture
def ledger(place):
    return Ledger(storage.join(place, "ledger"))


def test_an_empty_ledger_says_so(ledger):
    assert ledger.find("count/a") is None
    assert ledger.entries() == {}
    assert ledger.entries("count/") == {}
    ledger.clear()


def test_entries_are_found_by_key_and_by_prefix(ledger):
    keys = ["count/3fa9-001", "count/3fa9-000", "count/77b0-000", "merge/0", "first"]
    for number, key in enumerate(keys):
        assert ledger.record(key, {"number": number, "word": "naïve"}) == {"number": number, "word": "naïve"}
    assert ledger.find("merge/0") == {"number": 3, "word": "naïve"}
    assert ledger.find("merge") is None
    assert list(ledger.entries()) == sorted(keys)
    assert list(ledger.entries("count/")) == ["count/3fa9-000", "count/3fa9-001", "count/77b0-000"]
    assert {key: entry["number"] for key, entry in ledger.entries("count/3fa9").items()} == {
        "count/3fa9-000": 1,
        "count/3fa9-001": 0,
    }
    ledger.clear()
    assert ledger.entries() == {}


def test_a_late_writer_gets_the_entry_that_stands(ledger):
    assert ledger.record("count/a", {"attempt": 1}) == {"attempt": 1}
    assert ledger.record("count/a", {"attempt": 2}) == {"attempt": 1}
    assert ledger.find("count/a") == {"attempt": 1}


def test_of_writers_at_the_same_time_all_hear_of_the_same_one(ledger):
    writers = 6
    together = threading.Barrier(writers)

    def record(number):
        together.wait()
        return ledger.record("count/a", {"attempt": number})["attempt"]

    with ThreadPoolExecutor(writers) as pool:
        assert set(pool.map(record, range(writers))) == {ledger.find("count/a")["attempt"]}


def test_an_entry_costs_one_request(s3, faulty_s3):
    ledger = Ledger(storage.join(s3, "ledger"))
    ledger.record("count/a", {})
    ledger.find("count/a")
    ledger.find("count/b")
    assert [request.split()[0] for request in faulty_s3.requests] == ["PUT", "GET", "GET"]


def test_a_damaged_entry_is_told(ledger):
    with storage.writing(storage.join(ledger.uri, "count/a.json")) as stream:
        stream.write(b'{"attempt": ')
    for attempt in (ledger.find, ledger.entries, lambda key: ledger.record(key, {})):
        with pytest.raises(BitcipherError, match=r"ledger/count/a\.json is not a JSON object"):
            attempt("count/a")
