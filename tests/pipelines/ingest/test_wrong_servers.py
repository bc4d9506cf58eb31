"""Servers that report a wrong size or send other bytes at each request: a sentence, and no wrong counts."""

import gzip
import io
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from builds import OPTIONS, digests, run_build, run_update
from document_shards import make_shards, texts_in
from web_server import WebServer

from bitcipher.errors import BitcipherError
from bitcipher.files import http_files
from pipelines.shard.options import ShardOptions
from pipelines.shard.sample import sample_records

TEXTS = [f"{number} the cat sat on the mat with {number % 7} rats" for number in range(3_000)]
LINES = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()


def parquet(texts):
    pq.write_table(pa.table({"text": texts}), sink := io.BytesIO())
    return sink.getvalue()


FILES = {"/a.jsonl": LINES, "/a.jsonl.gz": gzip.compress(LINES), "/a.parquet": parquet(TEXTS)}

# Sources of these servers cannot be read.
WRONG = {
    "half": {"size_factor": 0.5},
    "double": {"size_factor": 2.0},
    "no size": {"sends_size": False, "supports_ranges": False},
    "chunks without size": {"sends_chunks": True, "supports_ranges": False},
    "compressed": {"encoding": "gzip"},
}
# Sources of these can.
RIGHT = {"chunks": {"sends_chunks": True}, "no ranges": {"supports_ranges": False}}


@pytest.fixture
def web(monkeypatch):
    monkeypatch.setattr(http_files, "FIRST_WAIT_SECONDS", 0.001)
    with WebServer() as server:
        server.files |= FILES
        yield server


@pytest.fixture(scope="module")
def first_build(tmp_path_factory):
    """A build of one local file, as function of the target."""
    path = tmp_path_factory.mktemp("first") / "first.jsonl"
    path.write_text(json.dumps({"text": "some other words " * 20}) + "\n")
    return lambda target: run_build([path], target)


def change(web, settings):
    for name, value in settings.items():
        setattr(web, name, value)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("fault", WRONG)
def test_build_and_update_refuse_wrong_servers(web, fault, name, tmp_path, first_build):
    if fault == "compressed" and name.endswith(".gz"):
        web.encoding = "br"
    else:
        change(web, WRONG[fault])
    with pytest.raises(BitcipherError, match=re.escape(f"{web.address}{name}")):
        run_build([f"{web.address}{name}"], tmp_path / "build")
    assert not (tmp_path / "build").exists()
    first_build(tmp_path / "first")
    before = digests(tmp_path / "first")
    with pytest.raises(BitcipherError, match=re.escape(f"{web.address}{name}")):
        run_update(tmp_path / "first", [f"{web.address}{name}"])
    assert digests(tmp_path / "first") == before


@pytest.mark.parametrize("fault", WRONG)
def test_shard_and_sample_refuse_wrong_servers(web, fault, tmp_path):
    change(web, WRONG[fault])
    uri = f"{web.address}/a.jsonl"
    with pytest.raises(BitcipherError, match=re.escape(uri)):
        make_shards(tmp_path / "out", uri)
    with pytest.raises(BitcipherError, match=re.escape(uri)):
        list(sample_records([uri], ShardOptions(), len(TEXTS) + 1))


@pytest.mark.parametrize("name", FILES)
def test_bodies_that_change_are_refused(web, name, tmp_path):
    web.changes_bodies = True
    uri = f"{web.address}{name}"
    with pytest.raises(BitcipherError, match=rf"{re.escape(uri)} (changed while it was read|has)"):
        run_build([uri], tmp_path / "build")
    assert not (tmp_path / "build").exists()
    with pytest.raises(BitcipherError, match=rf"{re.escape(uri)} (changed while it was read|has)"):
        make_shards(tmp_path / "out", uri)


def test_body_that_changes_after_a_shard(web, tmp_path, monkeypatch):
    """No shard of other bytes is in the ledger, although shards are recorded before the source is read to its end."""
    web.changes_bodies = True
    options = OPTIONS.derive({"shard_mib": 1})
    web.files["/long.jsonl"] = LINES * 20
    with pytest.raises(BitcipherError, match="changed while it was read"):
        run_build([f"{web.address}/long.jsonl"], tmp_path / "build", options)
    web.changes_bodies = False
    run_build([f"{web.address}/long.jsonl"], tmp_path / "build", options)
    (tmp_path / "long.jsonl").write_bytes(LINES * 20)
    run_build([tmp_path / "long.jsonl"], tmp_path / "reference", options)
    assert digests(tmp_path / "build") == digests(tmp_path / "reference")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("server", RIGHT)
def test_right_servers_give_the_same_counts(web, server, name, tmp_path, local_counts):
    change(web, RIGHT[server])
    run_build([f"{web.address}{name}"], tmp_path / "build")
    assert digests(tmp_path / "build").counts == local_counts


@pytest.fixture(scope="module")
def local_counts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    (folder / "a.jsonl").write_bytes(LINES)
    run_build([folder / "a.jsonl"], folder / "build")
    return digests(folder / "build").counts


def test_shards_of_a_right_server(web, tmp_path):
    make_shards(tmp_path / "web", f"{web.address}/a.jsonl.gz")
    (tmp_path / "a.jsonl").write_bytes(LINES)
    make_shards(tmp_path / "disk", tmp_path / "a.jsonl")
    assert texts_in(tmp_path / "web") == texts_in(tmp_path / "disk")
