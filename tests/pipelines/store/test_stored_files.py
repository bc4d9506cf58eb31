"""Nothing is read from the network because a stored file names it, and stored options have no credentials."""

import json

import pytest
from builds import OPTIONS, digests, run_build, run_update
from document_shards import make_shards
from tokenizers import Tokenizer, models, pre_tokenizers
from web_server import WebServer

from bitcipher.errors import BitcipherError
from pipelines.builds.sentences import read_sentences
from pipelines.estimate.build_cost import Cluster
from pipelines.estimate.build_estimate import EstimateRequest, estimate_build
from pipelines.store.manifest import read_manifest
from pipelines.store.stored_files import use_given_files

WORDS = ["the", "cat", "saw", "dog", "[UNK]"]
CLUSTER = Cluster(1, 2, 4e9)


@pytest.fixture
def web():
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    with WebServer() as server:
        server.files["/tokenizer.json"] = tokenizer.to_str().encode()
        server.files["/words.txt"] = b"the\ncat\nsaw\ndog\n"
        server.files["/a.txt"] = b"the cat saw the dog\n" * 50
        server.files["/b.txt"] = b"the dog saw the cat\n" * 50
        yield server


@pytest.fixture
def corpus(tmp_path):
    for number in (1, 2):
        path = tmp_path / f"corpus-{number}.txt"
        path.write_text(f"the cat saw the dog {number}\n" * 50)
    return tmp_path


def secret(web, name):
    return f"http://me:hunter2@127.0.0.1:{web.port}/{name}"


def stored_bytes(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", ["tokenizer", "word_list"])
def test_files_of_options_are_given_again(web, corpus, name):
    file = {"tokenizer": "tokenizer.json", "word_list": "words.txt"}[name]
    uri, build, second = secret(web, file), corpus / "build", [corpus / "corpus-2.txt"]
    run_build([corpus / "corpus-1.txt"], build, OPTIONS.derive({name: uri}))
    assert b"hunter2" not in stored_bytes(build)
    web.requests.clear()
    option = name.replace("_", "-")
    with pytest.raises(BitcipherError, match=rf"names {web.address}/{file}, and nothing is read.*`--{option}`"):
        run_update(build, second)
    assert web.requests == []
    run_update(build, second, **{name: uri})
    copy = corpus / file
    copy.write_bytes(web.files[f"/{file}"])
    (corpus / "corpus-3.txt").write_text("the cat\n")
    run_update(build, [corpus / "corpus-3.txt"], **{name: str(copy)})
    sources = [corpus / f"corpus-{number}.txt" for number in (1, 2, 3)]
    run_build(sources, corpus / "reference", OPTIONS.derive({name: str(copy)}))
    assert digests(build) == digests(corpus / "reference")
    assert b"hunter2" not in stored_bytes(build)


def test_another_tokenizer_is_refused(web, corpus):
    run_build([corpus / "corpus-1.txt"], corpus / "build", OPTIONS.derive({"tokenizer": secret(web, "tokenizer.json")}))
    with pytest.raises(BitcipherError, match="made with other options"):
        run_update(corpus / "build", [corpus / "corpus-2.txt"], tokenizer="whitespace")


def test_infer_and_plan_read_no_tokenizer_of_a_manifest(web, corpus):
    uri = secret(web, "tokenizer.json")
    run_build([corpus / "corpus-1.txt"], corpus / "build", OPTIONS.derive({"tokenizer": uri}))
    options = read_manifest(str(corpus / "build")).options
    web.requests.clear()
    with pytest.raises(BitcipherError, match="--tokenizer"):
        use_given_files(options, "build", tokenizer=None)
    request = EstimateRequest(tokens=1e9, build=str(corpus / "build"), options={}, cluster=CLUSTER)
    with pytest.raises(BitcipherError, match="--tokenizer"):
        estimate_build(request)
    assert web.requests == []
    given = use_given_files(options, "build", tokenizer=uri)
    assert read_sentences(str(corpus / "corpus-1.txt"), given)[0][:3] == ["the", "cat", "saw"]


class TestRecordedSources:
    def test_update(self, web, corpus):
        build = corpus / "build"
        run_build([secret(web, "a.txt"), secret(web, "b.txt")], build)
        web.files["/a.txt"] += b"the dog\n"
        web.requests.clear()
        with pytest.raises(BitcipherError, match=rf"{web.address}/b\.txt must be read, and nothing is read from the"):
            run_update(build, [secret(web, "a.txt")], replace=True)
        assert not any("/b.txt" in path for path, _ in web.requests)
        run_update(build, [secret(web, "a.txt"), secret(web, "b.txt")], replace=True)
        run_build([secret(web, "a.txt"), secret(web, "b.txt")], corpus / "reference")
        assert digests(build) == digests(corpus / "reference")

    def test_shard(self, web, corpus):
        out = corpus / "out"
        make_shards(out, secret(web, "a.txt"), secret(web, "b.txt"))
        web.files["/a.txt"] += b"the dog\n"
        with pytest.raises(BitcipherError, match=rf"{web.address}/b\.txt must be read, and nothing is read from the"):
            make_shards(out, secret(web, "a.txt"), replace=True)

    def test_plan(self, web, corpus):
        run_build([secret(web, "a.txt")], corpus / "build")
        request = EstimateRequest(tokens=1e9, build=str(corpus / "build"), options={}, cluster=CLUSTER)
        with pytest.raises(BitcipherError, match=rf"{web.address}/a\.txt must be read"):
            estimate_build(request)


def test_rules_of_document_shards_have_no_credentials(web, corpus):
    web.files["/hosts.txt"] = b"bad.example\n"
    rules = [{"rule": "blocklist", "path": secret(web, "hosts.txt")}]
    make_shards(corpus / "out", corpus / "corpus-1.txt", rules=rules)
    make_shards(corpus / "out", corpus / "corpus-2.txt", rules=rules)
    assert b"hunter2" not in stored_bytes(corpus / "out")
    manifest = json.loads(sorted((corpus / "out" / "manifests").iterdir())[-1].read_text())
    assert manifest["options"]["rules"][0]["path"] == f"{web.address}/hosts.txt"


def test_drift_and_alignment_have_no_credentials(corpus):
    run_build([corpus / "corpus-1.txt"], corpus / "build", OPTIONS.derive({"mode": "cat"}))
    with pytest.raises(BitcipherError) as error:
        run_update(corpus / "build", [corpus / "corpus-2.txt"], align="https://me:hunter2@127.0.0.1:1/other")
    assert "hunter2" not in str(error.value)


def test_killed_build_is_recognized_by_its_options_without_credentials(web, corpus, monkeypatch):
    options = OPTIONS.derive({"tokenizer": secret(web, "tokenizer.json")})
    with monkeypatch.context() as patch:
        patch.setattr("pipelines.builds.make_version.finish_job", lambda job: None)  # killed after publishing
        run_build([corpus / "corpus-1.txt"], corpus / "build", options)
    run_build([corpus / "corpus-1.txt"], corpus / "build", options)
    assert read_manifest(str(corpus / "build")).version == 1
