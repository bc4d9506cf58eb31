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

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, object_store, parquet_files, storage

SMALL = b"a few bytes"
# More than one upload part, so that parts are sent before the block ends.
LARGE = np.random.default_rng(5).bytes(2 * object_store.BLOCK_BYTES + 1_000)


def write(uri, content):
    with storage.writing(uri) as stream:
        stream.write(content)


def read(uri):
    with storage.reading(uri) as stream:
        return stream.read()


def pending_uploads(bucket):
    filesystem, path = storage.url_to_fs(bucket)
    return filesystem.call_s3("list_multipart_uploads", Bucket=path).get("Uploads", [])


def write_then_fail(uri, content):
    def write_and_fail():
        with storage.writing(uri) as stream:
            stream.write(content)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()


@pytest.mark.parametrize("content", [b"", SMALL, LARGE], ids=["empty", "small", "large"])
def test_written_content_reads_back(base_uri, content):
    uri = storage.join(base_uri, "deep/down/file")
    write(uri, content)
    assert read(uri) == content
    assert storage.read_bytes(uri) == content
    assert storage.list_files(base_uri) == {"deep/down/file": len(content)}
    assert storage.exists(uri)
    assert storage.exists(storage.join(base_uri, "deep"))


@pytest.mark.parametrize("content", [SMALL, LARGE], ids=["small", "large"])
def test_failed_block_publishes_nothing(base_uri, content):
    write_then_fail(storage.join(base_uri, "file"), content)
    assert not storage.exists(storage.join(base_uri, "file"))
    if base_uri.startswith("s3://"):
        assert pending_uploads(base_uri) == []
    else:
        assert os.listdir(base_uri) == []


@pytest.mark.parametrize("content", [SMALL, LARGE], ids=["small", "large"])
def test_failed_block_retains_the_old_content(base_uri, content):
    uri = storage.join(base_uri, "file")
    write(uri, b"before")
    write_then_fail(uri, content)
    assert read(uri) == b"before"


def test_failed_block_publishes_nothing_in_memory():
    write_then_fail("memory://storage/file", SMALL)
    assert not storage.exists("memory://storage/file")


def test_files_are_invisible_until_the_block_ends(base_uri):
    with storage.writing(storage.join(base_uri, "file")) as stream:
        stream.write(LARGE)
        assert storage.list_files(base_uri) == {}
        assert not storage.exists(storage.join(base_uri, "file"))
    assert list(storage.list_files(base_uri)) == ["file"]


def test_create_succeeds_once(base_uri):
    uri = storage.join(base_uri, "entries/one.json")
    assert storage.create(uri, b"first")
    assert storage.create(uri, b"first")  # as after a lost response to the first attempt
    assert not storage.create(uri, b"second")
    assert storage.read_bytes(uri) == b"first"
    assert list(storage.list_files(base_uri)) == ["entries/one.json"]
    if not base_uri.startswith("s3://"):
        assert os.listdir(storage.join(base_uri, "entries")) == ["one.json"]


def test_create_succeeds_once_in_memory():
    assert storage.create("memory://storage/new", b"first")
    assert not storage.create("memory://storage/new", b"second")
    assert storage.read_bytes("memory://storage/new") == b"first"
    storage.remove("memory://storage/new")


def create_files(base_uri, rounds, name, start, results):
    created = []
    for number in range(rounds):
        start.wait()
        created.append(storage.create(storage.join(base_uri, str(number)), name.encode()))
    results.put((name, created))


def test_only_one_of_several_processes_creates_a_file(base_uri):
    context = multiprocessing.get_context("spawn")
    rounds, names = 20, ["a", "b"]
    start, results = context.Barrier(len(names)), context.Queue()
    processes = [context.Process(target=create_files, args=(base_uri, rounds, name, start, results)) for name in names]
    for process in processes:
        process.start()
    created = dict(results.get(timeout=60) for _ in processes)
    for process in processes:
        process.join()
    for number in range(rounds):
        winners = [name for name in names if created[name][number]]
        assert winners == [storage.read_bytes(storage.join(base_uri, str(number))).decode()]


def test_writes_of_other_clients_are_visible_at_once(s3, s3_server):
    other, bucket = boto3.client("s3", endpoint_url=s3_server), s3.removeprefix("s3://")
    write(storage.join(s3, "folder/a"), b"1")
    assert storage.list_files(storage.join(s3, "folder")) == {"a": 1}
    assert storage.url_to_fs(s3)[0].ls(f"{bucket}/folder")  # this fills fsspec's cache of listings
    other.put_object(Bucket=bucket, Key="folder/b", Body=b"22")
    other.put_object(Bucket=bucket, Key="folder/a", Body=b"333")
    assert storage.exists(storage.join(s3, "folder/b"))
    assert storage.list_files(storage.join(s3, "folder")) == {"a": 3, "b": 2}
    assert read(storage.join(s3, "folder/a")) == b"333"
    other.delete_object(Bucket=bucket, Key="folder/a")
    assert not storage.exists(storage.join(s3, "folder/a"))


def test_listing_is_complete_during_concurrent_writes(tmp_path):
    (tmp_path / "stays").touch()
    ended = threading.Event()

    def keep_writing():
        number = 0
        while not ended.is_set():
            number += 1
            json_files.write(str(tmp_path / "folder" / str(number % 7)), {"a": 1})
            storage.remove(str(tmp_path / "folder" / str((number + 3) % 7)))

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(keep_writing) for _ in range(2)]
        try:
            for _ in range(200):
                names = storage.list_files(str(tmp_path))
                assert "stays" in names
                assert not [name for name in names if name.endswith(storage.UNFINISHED)]
        finally:
            ended.set()
        for writer in writers:
            writer.result()


def test_remove_removes_only_the_named_folder(base_uri):
    for name in ("run1/a", "run[1]/a", "run[1]/b/c", "run[1]2"):
        write(storage.join(base_uri, name), SMALL)
    storage.remove(storage.join(base_uri, "run[1]"))
    assert list(storage.list_files(base_uri)) == ["run1/a", "run[1]2"]
    storage.remove(storage.join(base_uri, "run1/a"))
    storage.remove(storage.join(base_uri, "never/there"))
    assert list(storage.list_files(base_uri)) == ["run[1]2"]


def test_missing_files_raise(base_uri):
    missing = storage.join(base_uri, "missing.json")
    assert storage.read_bytes(missing) is None
    assert storage.list_files(missing) == {}
    for attempt in (read, json_files.read, parquet_files.read_table):
        with pytest.raises(BitcipherError, match=r"no file .*missing\.json"):
            attempt(missing)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff"])
def test_damaged_json_raises(base_uri, content):
    write(storage.join(base_uri, "a.json"), content)
    with pytest.raises(BitcipherError, match="not a JSON object"):
        json_files.read(storage.join(base_uri, "a.json"))


def test_tables_and_many_files_read_back(base_uri):
    table = pa.table({"word": ["a", "b"], "count": [1, 2]})
    parquet_files.write_table(storage.join(base_uri, "t.parquet"), table)
    assert parquet_files.read_table(storage.join(base_uri, "t.parquet")) == table
    uris = [storage.join(base_uri, f"{number}.json") for number in range(30)]
    for number, uri in enumerate(uris):
        json_files.write(uri, {"number": number})
    contents = storage.read_many([*uris, storage.join(base_uri, "none")])
    assert [json.loads(content)["number"] for content in contents[:-1]] == list(range(30))
    assert contents[-1] is None


@pytest.fixture
def short_timeout(faulty_s3, monkeypatch):
    """Let the client time out after 0.3 seconds."""
    monkeypatch.setitem(fsspec.config.conf["s3"]["config_kwargs"], "read_timeout", 0.3)


@pytest.mark.long
@pytest.mark.parametrize("fault", ["SlowDown", "hang"])
def test_requests_are_retried_until_the_store_recovers(s3, faulty_s3, short_timeout, fault):
    uri = storage.join(s3, "file")
    faulty_s3.plan = [Fault(fault, "PUT POST", times=2)]
    write(uri, SMALL)
    faulty_s3.plan = [Fault(fault, "PUT", times=1)]
    assert storage.create(storage.join(s3, "new"), SMALL)
    faulty_s3.plan = [Fault(fault, "GET", times=2)]
    assert read(uri) == SMALL


def test_errors_that_s3fs_does_not_retry_are_retried(s3, faulty_s3, monkeypatch):
    monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": faulty_s3.address})
    faulty_s3.plan = [Fault("InternalError", times=1)]
    json_files.write(storage.join(s3, "a.json"), {"a": 1})
    faulty_s3.plan = [Fault("SlowDown", "HEAD", times=1)]  # without a body, so that s3fs does not see the error code
    assert storage.exists(storage.join(s3, "a.json"))
    assert [request.split()[0] for request in faulty_s3.requests] == ["PUT", "PUT", "HEAD", "HEAD"]


def test_slow_stores_are_supported(s3, faulty_s3):
    faulty_s3.plan = [Fault("slow", seconds=0.1)]
    write(storage.join(s3, "file"), SMALL)
    assert read(storage.join(s3, "file")) == SMALL


def test_interrupted_downloads_are_retried(s3, faulty_s3):
    write(storage.join(s3, "file"), LARGE)
    faulty_s3.plan = [Fault("break", "GET", times=2)]
    assert read(storage.join(s3, "file")) == LARGE


def test_create_succeeds_after_a_lost_response(s3, faulty_s3):
    faulty_s3.plan = [Fault("lose", "PUT", times=1)]
    assert storage.create(storage.join(s3, "new"), b"mine")
    assert [request.split()[0] for request in faulty_s3.requests] == ["PUT", "PUT", "GET"]


@pytest.mark.long
@pytest.mark.parametrize("fault", ["SlowDown", "InternalError", "hang", "AccessDenied"])
def test_persistent_store_errors_raise(s3, faulty_s3, short_timeout, fault):
    uri = storage.join(s3, "file")
    faulty_s3.plan = [Fault(fault)]
    attempts = {
        "write": [
            lambda: write(uri, SMALL),
            lambda: storage.create(uri, SMALL),
            lambda: json_files.write(uri, {"a": 1}),
        ],
        "read": [lambda: read(uri), lambda: storage.read_bytes(uri)],
        "list": [lambda: storage.list_files(s3)],
        "look for": [lambda: storage.exists(uri)],
        "remove": [lambda: storage.remove(uri)],
    }
    with ThreadPoolExecutor(8) as pool:  # all of them wait for the last retry
        results = [(action, pool.submit(attempt)) for action in attempts for attempt in attempts[action]]
    for action, result in results:
        with pytest.raises(BitcipherError, match=f"^Cannot {action} s3://.*run this again.$"):
            result.result()
    faulty_s3.plan = []
    assert storage.list_files(s3) == {}


def test_interrupted_upload_publishes_nothing(s3, faulty_s3):
    def write_and_break():
        with storage.writing(storage.join(s3, "file")) as stream:
            stream.write(LARGE[:-1_000])
            faulty_s3.plan = [Fault("SlowDown", "PUT")]
            stream.write(LARGE)

    with pytest.raises(BitcipherError, match=r"^Cannot write s3://"):
        write_and_break()
    assert storage.list_files(s3) == {}
    assert pending_uploads(s3) == []


@pytest.mark.parametrize("fault", ["SlowDown", "break"])
def test_store_errors_during_reading_raise(s3, faulty_s3, fault):
    uri = storage.join(s3, "file")
    write(uri, LARGE)
    with storage.reading(uri) as stream:
        assert stream.read(1_000) == LARGE[:1_000]
        faulty_s3.plan = [Fault(fault)]
        with pytest.raises(BitcipherError, match=f"^Cannot read {uri}: "):
            stream.read()


def test_store_errors_during_reading_of_a_table_raise(s3, faulty_s3):
    uri = storage.join(s3, "table.parquet")
    parquet_files.write_table(uri, pa.table({"n": np.random.default_rng(6).integers(0, 1 << 60, 200_000)}))
    faulty_s3.plan = [Fault("break", "GET")]
    with pytest.raises(BitcipherError, match=r"^Cannot read s3://.*table\.parquet"):
        parquet_files.read_table(uri)


def test_missing_bucket_raises_and_is_not_created(s3_server):
    uri = "s3://no-such-bucket-anywhere/file"
    for attempt in (write, storage.create):
        with pytest.raises(BitcipherError, match=r"^Cannot write .* bucket does not exist"):
            attempt(uri, SMALL)
    with pytest.raises(BitcipherError, match="no file"):
        read(uri)
    assert not storage.exists("s3://no-such-bucket-anywhere")


def test_missing_credentials_raise(s3, s3_server, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": s3_server})
    with pytest.raises(BitcipherError, match=r"^Cannot read s3://.*credentials"):
        read(storage.join(s3, "file"))


def test_user_settings_take_precedence(monkeypatch):
    assert object_store.settings("/folder") == {}
    assert object_store.settings("s3://b")["config_kwargs"]["retries"]["total_max_attempts"] == object_store.ATTEMPTS
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "9")
    user_settings = {"anon": True, "use_listings_cache": True, "config_kwargs": {"read_timeout": 3}}
    monkeypatch.setitem(fsspec.config.conf, "s3", user_settings)
    settings = object_store.settings("s3://b/file")
    assert settings["anon"]
    assert settings["config_kwargs"] == {"connect_timeout": object_store.CONNECT_SECONDS, "read_timeout": 3}
    assert settings["use_listings_cache"] is False


LIMITED_WRITES = """
import resource, sys
import pyarrow as pa
from bitcipher.files import json_files, parquet_files, storage
from bitcipher.errors import BitcipherError

folder, large = sys.argv[1], b"x" * 100_000
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

def write(uri):
    with storage.writing(uri) as stream:
        stream.write(large)

for attempt in (
    write,
    lambda uri: storage.create(uri, large),
    lambda uri: json_files.write(uri, {"text": large.decode()}),
    lambda uri: parquet_files.write_table(uri, pa.table({"n": list(range(50_000))})),
):
    try:
        attempt(folder + "/file")
    except BitcipherError as error:
        print(error)
"""


def test_full_disk_raises_and_leaves_no_files(tmp_path):
    # A file size limit fails at the same point as a full disk.
    output = subprocess.run(
        [sys.executable, "-c", LIMITED_WRITES, tmp_path], capture_output=True, text=True, check=True
    ).stdout
    message = f"Cannot write {tmp_path}/file: the disk is full"
    assert [line.startswith(message) for line in output.splitlines()] == [True] * 4
    assert os.listdir(tmp_path) == []


class TestWithoutCredentials:
    @pytest.fixture(autouse=True)
    def without_credentials(self, s3, monkeypatch):
        write(f"{s3}/a.txt", SMALL)
        filesystem = type(storage.url_to_fs(s3)[0])
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        filesystem.clear_instance_cache()  # it holds clients with credentials
        yield
        filesystem.clear_instance_cache()

    def test_error_names_the_settings(self, s3):
        for action in (storage.read_bytes, storage.exists, storage.list_files):
            with pytest.raises(BitcipherError, match=r"no credentials.*AWS_PROFILE.*FSSPEC_S3_ANON=true"):
                action(f"{s3}/a.txt")

    def test_public_bucket_is_read_if_the_variable_is_set(self, s3, monkeypatch):
        settings = {}
        fsspec.config.set_conf_env(settings, {"FSSPEC_S3_ANON": "true"})
        monkeypatch.setitem(fsspec.config.conf, "s3", settings["s3"])
        assert read(f"{s3}/a.txt") == SMALL
