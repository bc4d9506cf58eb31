"""Credentials in URIs reach no file, message or log."""

import base64
import gzip
import json
import re

import pytest
from builds import digests, run_build, run_update
from document_shards import make_shards
from web_server import WebServer

from bitcipher.errors import BitcipherError
from pipelines.ingest.sources import Source, list_sources
from pipelines.runtime.events import log_event

SECRETS = ("hunter", "5e1f00d")
BASIC = "Basic " + base64.b64encode(b"me:hunter2").decode()
TEXTS = [[f"{start} {start + 1} the cat saw the dog"] * 40 for start in (1, 2, 3)]


def lines(texts):
    return "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()


@pytest.fixture
def web(monkeypatch):
    monkeypatch.setenv("BITCIPHER_LOG", "json")
    with WebServer() as server:
        server.authorization = BASIC
        server.required_query = "part=1&X-Amz-Signature=5e1f00d"
        for name, texts in zip("abc", TEXTS, strict=True):
            server.files[f"/{name}.jsonl.gz"] = gzip.compress(lines(texts))
        yield server


def url(web, name):
    return f"http://me:hunter2@127.0.0.1:{web.port}/{name}.jsonl.gz?{web.required_query}"


def check_secrets(folder, capfd, *records):
    """Check that no file below a folder, no name and no output has a secret. Gzip and Parquet are opened."""
    contents = [text.encode() for text in capfd.readouterr()] + [repr(records).encode()]
    for path in folder.rglob("*"):
        contents.append(str(path).encode())
        if path.is_file():
            contents.append(path.read_bytes())
            if path.suffix == ".parquet":
                import pyarrow.parquet as pq

                contents.append(repr(pq.read_table(path).to_pylist()).encode())
            elif path.suffix == ".gz":
                contents.append(gzip.decompress(path.read_bytes()))
    for secret in SECRETS:
        assert not any(secret.encode() in content for content in contents)


def test_build_and_update(web, tmp_path, capfd):
    build = tmp_path / "build"
    manifest = run_build([url(web, "a")], build)
    assert [source["uri"] for source in manifest["sources"]] == [f"{web.address}/a.jsonl.gz?part=1"]
    # A new signature of the same file is not a new source.
    web.required_query = "part=1&X-Amz-Signature=5e1f00d2"
    web.authorization = None
    manifest, changes = run_update(build, [url(web, "a"), url(web, "b")])
    assert (len(changes.unchanged), len(changes.new)) == (1, 1)
    check_secrets(tmp_path, capfd, manifest, changes)
    plain = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for path, texts in zip(plain, TEXTS, strict=False):
        path.write_bytes(lines(texts))
    run_build(plain, tmp_path / "reference")
    assert digests(build).counts == digests(tmp_path / "reference").counts


def test_document_shards(web, tmp_path, capfd):
    web.files["/c.jsonl.gz"] = gzip.compress(lines(TEXTS[2]) + b"{bad\n")
    result = make_shards(tmp_path / "out", url(web, "a"), url(web, "c"), keep_dropped=True, max_bad_share=0.5)
    assert result.manifest.accounts.quarantined == {"not JSON": 1}
    check_secrets(tmp_path, capfd, result)


def test_interrupted_build_resumes_with_new_credentials(web, tmp_path, capfd):
    web.files["/c.jsonl.gz"] = b"not gzip"
    with pytest.raises(BitcipherError) as error:
        run_build([url(web, "a"), url(web, "c")], tmp_path / "build")
    check_secrets(tmp_path, capfd, str(error.value), error.value.__cause__)
    web.files["/c.jsonl.gz"] = gzip.compress(lines(TEXTS[2]))
    run_build([url(web, "a"), url(web, "c")], tmp_path / "build")
    check_secrets(tmp_path, capfd)


@pytest.mark.parametrize("name", ["a.jsonl.gz?X-Amz-Signature=5e1f00d", "gone.txt?token=5e1f00d", "a?key=5e1f00d"])
def test_errors_of_listing(web, tmp_path, capfd, name):
    with pytest.raises(BitcipherError) as error:
        list_sources([f"http://me:hunter2@127.0.0.1:{web.port}/{name}"])
    check_secrets(tmp_path, capfd, str(error.value), error.value.__cause__)
    assert f"127.0.0.1:{web.port}/{name.partition('?')[0]}" in str(error.value)


def test_lists_of_signed_urls(web, tmp_path, capfd):
    path = tmp_path.parent / "signed.paths"
    path.write_text(url(web, "a") + "\n" + url(web, "b"))
    sources = list_sources([str(path)])
    assert [source.uri for source in sources] == [f"{web.address}/{name}.jsonl.gz?part=1" for name in "ab"]
    check_secrets(tmp_path, capfd, sources)


def test_events(capfd, monkeypatch):
    monkeypatch.setenv("BITCIPHER_LOG", "json")
    log_event("failed", error="Cannot read https://me:hunter2@host/a?token=5e1f00d: no.")
    assert json.loads(capfd.readouterr().err)["error"] == "Cannot read https://host/a: no."


class TestSource:
    secret = "https://me:hunter2@host/a.txt?token=5e1f00d"
    source = Source(uri=secret, size=1, format="text").with_read_uri(secret)

    def test_only_read_uri_has_the_credentials(self):
        assert self.source.read_uri == self.secret
        assert self.source.uri == "https://host/a.txt"
        for text in (repr(self.source), str(self.source), str(self.source.to_dict()), self.source.model_dump_json()):
            assert not re.search("|".join(SECRETS), text)

    def test_copies_keep_read_uri(self):
        assert self.source.model_copy(update={"sha256": "0"}).read_uri == self.secret

    def test_workers_get_read_uri(self, ray_cluster):
        import ray

        assert ray.get(ray.put(self.source)).read_uri == self.secret

    def test_different_credentials_of_one_file_raise(self, web):
        web.authorization, web.required_query = None, ""
        address = f"{web.address}/a.jsonl.gz?token="
        with pytest.raises(BitcipherError, match="different credentials"):
            list_sources([f"{address}1", f"{address}2"])
