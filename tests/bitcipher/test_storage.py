import json
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import boto3
import fsspec
import numpy as np
import pyarrow as pa
import pytest
from object_store import Fault

from bitcipher import object_store, storage
from bitcipher.errors import BitcipherError

SMALL = b"a few bytes"
# More than one block of an upload, so that parts are sent before the block ends.
LARGE = np.random.default_rng(5).bytes(2 * object_store.BLOCK_BYTES + 1_000)


def write(uri, content):
    with storage.writing(uri) as stream:
        stream.write(content)


def read(uri):
    with storage.reading(uri) as stream:
        return stream.read()


def uploads_underway(bucket):
    filesystem, path = storage.url_to_fs(bucket)
    return filesystem.call_s3("list_multipart_uploads", Bucket=path).get("Uploads", [])


def fail_within(uri, content):
    def write_and_fail():
        with storage.writing(uri) as stream:
            stream.write(content)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()


@pytest.mark.parametrize("content", [b"", SMALL, LARGE], ids=["empty", "small", "large"])
def test_what_is_written_is_read(place, content):
    uri = storage.join(place, "deep/down/file")
    write(uri, content)
    assert read(uri) == content
    assert storage.read_bytes(uri) == content
    assert storage.list_files(place) == {"deep/down/file": len(content)}
    assert storage.exists(uri)
    assert storage.exists(storage.join(place, "deep"))


@pytest.mark.parametrize("content", [SMALL, LARGE], ids=["small", "large"])
def test_a_block_that_fails_publishes_nothing(place, content):
    fail_within(storage.join(place, "file"), content)
    assert not storage.exists(storage.join(place, "file"))
    if place.startswith("s3://"):
        assert uploads_underway(place) == []
    else:
        assert os.listdir(place) == []


@pytest.mark.parametrize("content", [SMALL, LARGE], ids=["small", "large"])
def test_a_block_that_fails_leaves_what_was_there(place, content):
    uri = storage.join(place, "file")
    write(uri, b"before")
    fail_within(uri, content)
    assert read(uri) == b"before"


def test_memory_publishes_nothing_of_a_block_that_fails():
    fail_within("memory://storage/file", SMALL)
    assert not storage.exists("memory://storage/file")


def test_nothing_is_seen_before_the_block_ends(place):
    with storage.writing(storage.join(place, "file")) as stream:
        stream.write(LARGE)
        assert storage.list_files(place) == {}
        assert not storage.exists(storage.join(place, "file"))
    assert list(storage.list_files(place)) == ["file"]


def test_a_new_name_is_given_once(place):
    uri = storage.join(place, "entries/one.json")
    assert storage.create(uri, b"first")
    assert storage.create(uri, b"first")  # as when the answer to the first try was lost
    assert not storage.create(uri, b"second")
    assert storage.read_bytes(uri) == b"first"
    assert list(storage.list_files(place)) == ["entries/one.json"]
    if not place.startswith("s3://"):
        assert os.listdir(storage.join(place, "entries")) == ["one.json"]


def test_a_new_name_is_given_once_in_memory():
    assert storage.create("memory://storage/new", b"first")
    assert not storage.create("memory://storage/new", b"second")
    assert storage.read_bytes("memory://storage/new") == b"first"
    storage.remove("memory://storage/new")


def create_in_each(place, rounds, name, start, results):
    won = []
    for number in range(rounds):
        start.wait()
        won.append(storage.create(storage.join(place, str(number)), name.encode()))
    results.put((name, won))


def test_of_several_processes_one_gets_a_new_name(place):
    context = multiprocessing.get_context("spawn")
    rounds, names = 20, ["a", "b"]
    start, results = context.Barrier(len(names)), context.Queue()
    racers = [context.Process(target=create_in_each, args=(place, rounds, name, start, results)) for name in names]
    for racer in racers:
        racer.start()
    won = dict(results.get(timeout=60) for _ in racers)
    for racer in racers:
        racer.join()
    for number in range(rounds):
        winners = [name for name in names if won[name][number]]
        assert winners == [storage.read_bytes(storage.join(place, str(number))).decode()]


def test_what_others_write_to_s3_is_seen_at_once(s3, s3_server):
    other, bucket = boto3.client("s3", endpoint_url=s3_server), s3.removeprefix("s3://")
    write(storage.join(s3, "folder/a"), b"1")
    assert storage.list_files(storage.join(s3, "folder")) == {"a": 1}
    assert storage.url_to_fs(s3)[0].ls(f"{bucket}/folder")  # which is what fills fsspec's memory
    other.put_object(Bucket=bucket, Key="folder/b", Body=b"22")
    other.put_object(Bucket=bucket, Key="folder/a", Body=b"333")
    assert storage.exists(storage.join(s3, "folder/b"))
    assert storage.list_files(storage.join(s3, "folder")) == {"a": 3, "b": 2}
    assert read(storage.join(s3, "folder/a")) == b"333"
    other.delete_object(Bucket=bucket, Key="folder/a")
    assert not storage.exists(storage.join(s3, "folder/a"))


def test_a_listing_stays_whole_while_others_write(tmp_path):
    (tmp_path / "stays").touch()
    ended = threading.Event()

    def write_on():
        number = 0
        while not ended.is_set():
            number += 1
            storage.write_json(str(tmp_path / "folder" / str(number % 7)), {})
            storage.remove(str(tmp_path / "folder" / str((number + 3) % 7)))

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write_on) for _ in range(2)]
        try:
            for _ in range(200):
                names = storage.list_files(str(tmp_path))
                assert "stays" in names
                assert not [name for name in names if name.endswith(storage.UNFINISHED)]
        finally:
            ended.set()
        for writer in writers:
            writer.result()


def test_only_the_folder_itself_is_removed(place):
    for name in ("run1/a", "run[1]/a", "run[1]/b/c", "run[1]2"):
        write(storage.join(place, name), SMALL)
    storage.remove(storage.join(place, "run[1]"))
    assert list(storage.list_files(place)) == ["run1/a", "run[1]2"]
    storage.remove(storage.join(place, "run1/a"))
    storage.remove(storage.join(place, "never/there"))
    assert list(storage.list_files(place)) == ["run[1]2"]


def test_what_is_missing_is_told(place):
    missing = storage.join(place, "missing.json")
    assert storage.read_bytes(missing) is None
    assert storage.list_files(missing) == {}
    for attempt in (read, storage.read_json, storage.read_table):
        with pytest.raises(BitcipherError, match=r"There is no file .*missing\.json"):
            attempt(missing)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff"])
def test_damaged_json_is_told(place, content):
    write(storage.join(place, "a.json"), content)
    with pytest.raises(BitcipherError, match=r"a.json is not a JSON object"):
        storage.read_json(storage.join(place, "a.json"))


def test_tables_and_many_files_come_back(place):
    table = pa.table({"word": ["a", "b"], "count": [1, 2]})
    storage.write_table(storage.join(place, "t.parquet"), table)
    assert storage.read_table(storage.join(place, "t.parquet")) == table
    uris = [storage.join(place, f"{number}.json") for number in range(30)]
    for number, uri in enumerate(uris):
        storage.write_json(uri, {"number": number})
    contents = storage.read_many([*uris, storage.join(place, "none")])
    assert [json.loads(content)["number"] for content in contents[:-1]] == list(range(30))
    assert contents[-1] is None


@pytest.fixture
def impatience(faulty_s3, monkeypatch):
    """A client that soon takes silence for a fault."""
    monkeypatch.setitem(fsspec.config.conf["s3"]["config_kwargs"], "read_timeout", 0.3)


@pytest.mark.long
@pytest.mark.parametrize("what", ["SlowDown", "hang"])
def test_a_store_that_recovers_is_waited_for(s3, faulty_s3, impatience, what):
    uri = storage.join(s3, "file")
    faulty_s3.plan = [Fault(what, "PUT POST", times=2)]
    write(uri, SMALL)
    faulty_s3.plan = [Fault(what, "PUT", times=1)]
    assert storage.create(storage.join(s3, "new"), SMALL)
    faulty_s3.plan = [Fault(what, "GET", times=2)]
    assert read(uri) == SMALL


def test_what_s3fs_does_not_repeat_is_tried_again_too(s3, faulty_s3, monkeypatch):
    monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": faulty_s3.address})  # else as bitcipher sets it
    faulty_s3.plan = [Fault("InternalError", times=1)]
    storage.write_json(storage.join(s3, "a.json"), {})
    faulty_s3.plan = [Fault("SlowDown", "HEAD", times=1)]  # without a body, so that s3fs does not see what it says
    assert storage.exists(storage.join(s3, "a.json"))
    assert [request.split()[0] for request in faulty_s3.requests] == ["PUT", "PUT", "HEAD", "HEAD"]


def test_a_slow_store_is_no_error(s3, faulty_s3):
    faulty_s3.plan = [Fault("slow", seconds=0.1)]
    write(storage.join(s3, "file"), SMALL)
    assert read(storage.join(s3, "file")) == SMALL


def test_a_body_that_breaks_off_is_fetched_again(s3, faulty_s3):
    write(storage.join(s3, "file"), LARGE)
    faulty_s3.plan = [Fault("break", "GET", times=2)]
    assert read(storage.join(s3, "file")) == LARGE


def test_a_lost_answer_does_not_lose_the_new_name(s3, faulty_s3):
    faulty_s3.plan = [Fault("lose", "PUT", times=1)]
    assert storage.create(storage.join(s3, "new"), b"mine")
    assert [request.split()[0] for request in faulty_s3.requests] == ["PUT", "PUT", "GET"]


@pytest.mark.long
@pytest.mark.parametrize("what", ["SlowDown", "InternalError", "hang", "AccessDenied"])
def test_a_store_that_stays_broken_is_told_in_a_sentence(s3, faulty_s3, impatience, what):
    uri = storage.join(s3, "file")
    faulty_s3.plan = [Fault(what)]
    attempts = {
        "write": [lambda: write(uri, SMALL), lambda: storage.create(uri, SMALL), lambda: storage.write_json(uri, {})],
        "read": [lambda: read(uri), lambda: storage.read_bytes(uri)],
        "list": [lambda: storage.list_files(s3)],
        "look for": [lambda: storage.exists(uri)],
        "remove": [lambda: storage.remove(uri)],
    }
    with ThreadPoolExecutor(8) as pool:  # they all wait for the end of the tries
        results = [(action, pool.submit(attempt)) for action in attempts for attempt in attempts[action]]
    for action, result in results:
        with pytest.raises(BitcipherError, match=f"^Cannot {action} s3://.*run this again.$"):
            result.result()
    faulty_s3.plan = []
    assert storage.list_files(s3) == {}


def test_an_upload_that_breaks_midway_publishes_nothing(s3, faulty_s3):
    def write_and_break():
        with storage.writing(storage.join(s3, "file")) as stream:
            stream.write(LARGE[:-1_000])
            faulty_s3.plan = [Fault("SlowDown", "PUT")]
            stream.write(LARGE)

    with pytest.raises(BitcipherError, match=r"^Cannot write s3://"):
        write_and_break()
    assert storage.list_files(s3) == {}
    assert uploads_underway(s3) == []


@pytest.mark.parametrize("what", ["SlowDown", "break"])
def test_a_store_that_breaks_while_it_is_read_is_told_in_a_sentence(s3, faulty_s3, what):
    uri = storage.join(s3, "file")
    write(uri, LARGE)
    with storage.reading(uri) as stream:
        assert stream.read(1_000) == LARGE[:1_000]
        faulty_s3.plan = [Fault(what)]
        with pytest.raises(BitcipherError, match=f"^Cannot read {uri}: "):
            stream.read()


def test_a_table_that_breaks_while_it_is_read_is_told_in_a_sentence(s3, faulty_s3):
    uri = storage.join(s3, "table.parquet")
    storage.write_table(uri, pa.table({"n": np.random.default_rng(6).integers(0, 1 << 60, 200_000)}))
    faulty_s3.plan = [Fault("break", "GET")]
    with pytest.raises(BitcipherError, match=r"^Cannot read s3://.*table\.parquet"):
        storage.read_table(uri)


def test_a_missing_bucket_is_told_and_not_made(s3_server):
    uri = "s3://no-such-bucket-anywhere/file"
    for attempt in (write, storage.create):
        with pytest.raises(BitcipherError, match=r"^Cannot write .* bucket does not exist"):
            attempt(uri, SMALL)
    with pytest.raises(BitcipherError, match="There is no file"):
        read(uri)
    assert not storage.exists("s3://no-such-bucket-anywhere")


def test_missing_credentials_are_told(s3, s3_server, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": s3_server})
    with pytest.raises(BitcipherError, match=r"^Cannot read s3://.*credentials"):
        read(storage.join(s3, "file"))


def test_what_a_user_sets_wins(monkeypatch):
    assert object_store.settings("/folder") == {}
    assert object_store.settings("s3://b")["config_kwargs"]["retries"]["total_max_attempts"] == object_store.ATTEMPTS
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "9")
    chosen = {"anon": True, "use_listings_cache": True, "config_kwargs": {"read_timeout": 3}}
    monkeypatch.setitem(fsspec.config.conf, "s3", chosen)
    settings = object_store.settings("s3://b/file")
    assert settings["anon"]
    assert settings["config_kwargs"] == {"connect_timeout": object_store.CONNECT_SECONDS, "read_timeout": 3}
    assert settings["use_listings_cache"] is False


FULL = """
import resource, sys
import pyarrow as pa
from bitcipher import storage
from bitcipher.errors import BitcipherError

folder, large = sys.argv[1], b"x" * 100_000
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

def write(uri):
    with storage.writing(uri) as stream:
        stream.write(large)

for attempt in (
    write,
    lambda uri: storage.create(uri, large),
    lambda uri: storage.write_json(uri, {"text": large.decode()}),
    lambda uri: storage.write_table(uri, pa.table({"n": list(range(50_000))})),
):
    try:
        attempt(folder + "/file")
    except BitcipherError as error:
        print(error)
"""


def test_a_disk_without_room_is_told_and_left_as_it_was(tmp_path):
    # A limit on the size of files, since a test cannot fill a disk: writing fails in the same place.
    told = subprocess.run([sys.executable, "-c", FULL, tmp_path], capture_output=True, text=True, check=True).stdout
    sentence = f"Cannot write {tmp_path}/file: there is no room left, on the disk or in a quota or limit."
    assert [line.startswith(sentence) for line in told.splitlines()] == [True] * 4
    assert os.listdir(tmp_path) == []
