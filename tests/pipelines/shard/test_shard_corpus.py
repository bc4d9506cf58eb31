import json
import random
import sys
from itertools import count

import pyarrow.parquet as pq
import pytest
from document_shards import content_of, make_shards, read_documents, texts_in, write_lines
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, parquet_files, storage
from pipelines.ingest.sources import list_sources
from pipelines.shard.clean_stage import CleanStage
from pipelines.shard.document_version import read_newest

NOTICE = (
    "The museum is open from ten to five on all days but Monday, and the garden is open until dusk in the summer. "
    "Children under the age of twelve need no ticket if they come with an adult, and dogs must stay outside."
)


def story(number, words=60):
    random_state = random.Random(number)
    return " ".join("".join(random_state.choices("aeimnorst", k=6)) for _ in range(words))


@pytest.fixture
def corpus(tmp_path):
    """Two files with unique documents, an exact copy, a near copy, a blank line and a bad line."""
    write_lines(tmp_path / "corpus/a.jsonl", *(story(n) for n in range(120)), NOTICE, url="http://a.example/1")
    lines = [*(story(n) for n in range(120, 240)), NOTICE.upper(), NOTICE + " Welcome!", story(3), "  ", "قلب " * 5]
    path = write_lines(tmp_path / "corpus/b.jsonl", *lines)
    with path.open("a") as file:
        file.write("{bad\n")
    return tmp_path / "corpus"


NEAR = {"duplicates": {"near": {}}, "shard_mib": 1}


def test_every_record_is_kept_or_accounted_for(corpus, tmp_path):
    result = make_shards(tmp_path / "out", corpus, keep_dropped=True, **NEAR)
    accounts = result.manifest.accounts
    assert (accounts.records, accounts.kept) == (247, 242)
    assert accounts.dropped == {"duplicate document": 2, "near duplicate": 1, "empty": 1}
    assert accounts.quarantined == {"not JSON": 1}
    table = read_documents(tmp_path / "out")
    assert len(table) == 242
    assert sum(table["words"].to_pylist()) == accounts.words
    assert len("".join(table["text"].to_pylist()).encode()) == accounts.text_bytes
    dropped = [row for path in (tmp_path / "out/dropped").iterdir() for row in pq.read_table(path).to_pylist()]
    assert sorted(row["reason"] for row in dropped) == sorted(
        ["duplicate document", "duplicate document", "near duplicate", "empty"]
    )
    assert {row["text"] for row in dropped} - {NOTICE, NOTICE.upper(), NOTICE + " Welcome!", story(3), "  "} == set()
    (bad,) = pq.read_table(next((tmp_path / "out/quarantine").iterdir())).to_pylist()
    assert (bad["offset"], bad["reason"], bad["excerpt"]) == (126, "not JSON", "{bad\\n")


def test_rows_have_the_details_of_documents(tmp_path):
    details = {"url": "http://e.org/", "timestamp": "2019"}
    source = write_lines(tmp_path / "c4.json", "First text.", "Second text, longer.", **details)
    make_shards(tmp_path / "out", source)
    first, second = read_documents(tmp_path / "out").to_pylist()
    assert (first["text"], first["url"], first["date"], first["offset"]) == ("First text.", "http://e.org/", "2019", 1)
    assert (second["source"], second["offset"], second["words"]) == (str(source), 2, 3)
    assert first["digest"] != second["digest"]


@pytest.mark.parametrize("replaced", ["a.jsonl", "b.jsonl"])
def test_choice_of_copies_does_not_depend_on_file_names(corpus, tmp_path, replaced):
    make_shards(tmp_path / "one", corpus, **NEAR)
    (corpus / replaced).rename(corpus / "z.jsonl")
    make_shards(tmp_path / "other", corpus, **NEAR)
    assert texts_in(tmp_path / "one") == texts_in(tmp_path / "other")


def test_update_of_a_folder_adds_only_new_documents(corpus, tmp_path):
    out = tmp_path / "out"
    make_shards(out, corpus / "a.jsonl", **NEAR)
    before = content_of(out)
    result = make_shards(out, corpus, **NEAR)
    after = content_of(out)
    assert [source.uri for source in result.changes.new] == [str(corpus / "b.jsonl")]
    assert {name: after[name] for name in before} == before, "published files never change"
    assert result.manifest.version == 2
    # Copies of published documents are dropped, whatever their priority.
    assert NOTICE in texts_in(out)
    assert not {NOTICE.upper(), NOTICE + " Welcome!"} & set(texts_in(out))
    assert texts_in(out).count(story(3)) == 1
    unchanged = make_shards(out, corpus, **NEAR)
    assert not unchanged.is_new
    assert content_of(out) == after


def test_replace_removes_documents_and_returns_their_copies(corpus, tmp_path):
    out = tmp_path / "out"
    make_shards(out, corpus / "a.jsonl", **NEAR)
    make_shards(out, corpus, **NEAR)
    write_lines(corpus / "a.jsonl", "One new document.")
    result = make_shards(out, corpus, replace=True, **NEAR)
    assert story(0) not in texts_in(out)
    assert {"One new document.", story(3)} <= set(texts_in(out))
    returned = {(document.source, document.offset) for document in result.returned}
    assert (str(corpus / "b.jsonl"), 123) in returned
    assert len(returned) == 2  # and one of the two copies of the notice
    make_shards(tmp_path / "fresh", corpus, **NEAR)
    assert texts_in(out) == texts_in(tmp_path / "fresh")


def test_paragraphs_and_host_lines_are_removed_once(tmp_path):
    menu = "Home About Contact"
    pages = [f"{menu}\n{story(n)}\n{NOTICE}" for n in range(12)]
    source = write_lines(tmp_path / "a.jsonl", *pages, menu, url="http://shop.example/")
    options = {"duplicates": {"near": None, "paragraphs": {}, "host_lines": {"min_documents": 10}}}
    result = make_shards(tmp_path / "out", source, **options)
    texts = texts_in(tmp_path / "out")
    assert sorted(text.split("\n")[0] for text in texts) == sorted(story(n) for n in range(12))
    assert sum(NOTICE in text for text in texts) == 0  # on all pages of the host, so it is a line of the host
    assert result.manifest.accounts.dropped == {"only repeated lines": 1}
    more = write_lines(tmp_path / "b.jsonl", f"{menu}\n{story(50)}", url="http://shop.example/")
    make_shards(tmp_path / "out", source, more, **options)
    assert story(50) in texts_in(tmp_path / "out")


@pytest.mark.parametrize("are_entries_empty", [False, True], ids=["whole entries", "empty entries"])
def test_interrupted_calls_resume_to_the_same_bytes(corpus, tmp_path, monkeypatch, are_entries_empty):
    options = {**NEAR, "keep_dropped": True}
    make_shards(tmp_path / "whole", corpus, **options)
    expected = content_of(tmp_path / "whole")
    writes = {"left": 0}
    original = storage.writing, storage.create

    class Stopped(BaseException):
        pass

    def stopping(function):
        def call(*arguments):
            if "lease" not in arguments[0]:
                writes["left"] -= 1
                if writes["left"] < 0:
                    raise Stopped
            return function(*arguments)

        return call

    monkeypatch.setattr(storage, "writing", stopping(original[0]))
    monkeypatch.setattr(storage, "create", stopping(original[1]))
    for number in count():
        out = tmp_path / f"stopped-{number}"
        writes["left"] = number
        try:
            make_shards(out, corpus, **options)
        except Stopped:
            writes["left"] = 1000
            for path in (out / "ledger").rglob("*.json") if are_entries_empty else ():
                path.write_bytes(b"")
            make_shards(out, corpus, **options)
            assert content_of(out) == expected
        else:
            break
    assert number > 10


TEXTS = [*(story(n, 12) for n in range(6)), "", "a b", "قلب"]


@settings(max_examples=20)
@given(documents=st.lists(st.lists(st.sampled_from(TEXTS), max_size=8), max_size=5))
def test_texts_are_those_of_the_sources_without_copies(tmp_path_factory, documents):
    folder = tmp_path_factory.mktemp("property")
    files = [write_lines(folder / f"{n}.jsonl", *texts) for n, texts in enumerate(documents)]
    if not any(documents):
        return
    result = make_shards(folder / "out", *files)
    expected = {text for texts in documents for text in texts if text}
    assert texts_in(folder / "out") == sorted(expected) if expected else result.manifest.tables.files.rows == 0
    result.manifest.accounts.check("all")


def test_folder_of_other_files_is_left_alone(corpus, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    with pytest.raises(BitcipherError, match="is not empty"):
        make_shards(tmp_path / "out", corpus)
    assert content_of(tmp_path / "out") == {"mine.txt": b"mine"}


def test_first_call_that_fails_leaves_nothing(tmp_path):
    source = tmp_path / "bad.jsonl"
    source.write_text("{bad\n" * 3)
    with pytest.raises(BitcipherError, match=r"3 of 3 records of .*bad\.jsonl are bad"):
        make_shards(tmp_path / "out", source)
    assert not (tmp_path / "out").exists()


def test_other_options_are_refused(corpus, tmp_path):
    make_shards(tmp_path / "out", corpus)
    with pytest.raises(BitcipherError, match=r"made with other options \(duplicates"):
        make_shards(tmp_path / "out", corpus, **NEAR)
    make_shards(tmp_path / "out", corpus, keep_dropped=True)  # does not change the documents


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        ({"rule": "vocabulary", "min_known_words": 1.0}, "the\ncat\n", "the\ncat\ndog\n"),
        ({"rule": "blocklist"}, "a.org\n", "b.org\n"),
    ],
    ids=["vocabulary", "blocklist"],
)
def test_edited_lists_of_rules_are_noticed(tmp_path, rule, before, after):
    path, source = tmp_path / "list.txt", tmp_path / "a.jsonl"
    pages = [{"text": "the cat", "url": "http://a.org/1"}, {"text": "the dog", "url": "http://b.org/2"}]
    source.write_text("".join(json.dumps(page) + "\n" for page in pages))
    rules = [{**rule, "path": str(path)}]
    path.write_text(before)
    make_shards(tmp_path / "out", source, rules=rules)
    first = texts_in(tmp_path / "out")
    path.write_text(after)
    with pytest.raises(BitcipherError, match="rule_files"):
        make_shards(tmp_path / "out", source, rules=rules)
    make_shards(tmp_path / "new", source, rules=rules)  # in the same process, which has read the earlier list
    assert texts_in(tmp_path / "new") != first
    path.rename(tmp_path / "renamed.txt")
    (tmp_path / "renamed.txt").rename(path)
    make_shards(tmp_path / "new", source, rules=rules)


def test_folder_from_before_lists_were_recorded_goes_on_with_a_sentence(tmp_path, capfd):
    path, source = tmp_path / "list.txt", tmp_path / "a.txt"
    path.write_text("a.org\n")
    source.write_text("the cat\n")
    rules = [{"rule": "blocklist", "path": str(path)}]
    make_shards(tmp_path / "out", source, rules=rules)
    (manifest,) = (path for path in (tmp_path / "out").glob("*/*.json") if "fingerprint" in path.read_text())
    values = json_files.read(str(manifest))
    del values["fingerprint"]["rule_files"]
    json_files.write(str(manifest), values)
    path.write_text("b.org\n")
    capfd.readouterr()
    make_shards(tmp_path / "out", source, rules=rules)
    assert "did not record the contents of the files of rules" in capfd.readouterr().err


def test_interrupted_call_without_dropped_documents_is_not_resumed_with_them(corpus, tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    rules = [{"rule": "length", "min_words": 4}]
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["pipelines.shard.shard_corpus"], "write_tasks", interrupt)
        with pytest.raises(KeyboardInterrupt):
            make_shards(tmp_path / "out", corpus, rules=rules)
    with pytest.raises(BitcipherError, match="keep_dropped False → True"):
        make_shards(tmp_path / "out", corpus, rules=rules, keep_dropped=True)
    make_shards(tmp_path / "out", corpus, rules=rules)


def test_documents_that_were_dropped_before_an_interruption_are_kept_aside(corpus, tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    options = {"rules": [{"rule": "length", "min_words": 4}], "keep_dropped": True}
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["pipelines.shard.shard_corpus"], "write_tasks", interrupt)
        with pytest.raises(KeyboardInterrupt):
            make_shards(tmp_path / "out", corpus, **options)
    make_shards(tmp_path / "out", corpus, **options)
    make_shards(tmp_path / "whole", corpus, **options)
    folders = [tmp_path / name / "dropped" for name in ("out", "whole")]
    first, second = (sorted(path.name for path in folder.iterdir()) for folder in folders)
    assert first == second != []


def test_folder_is_read_by_its_manifest(corpus, tmp_path):
    out = tmp_path / "out"
    make_shards(out, corpus, keep_dropped=True)
    files = read_newest(str(out)).files
    assert [source.sha256 for source in list_sources([str(out)])] == [file.sha256 for file in files]
    (out / files[0].name).unlink()
    with pytest.raises(BitcipherError, match=r"\.parquet is missing"):
        list_sources([str(out)])


def test_damaged_manifest_is_named(corpus, tmp_path):
    make_shards(tmp_path / "out", corpus)
    uri = tmp_path / "out/manifests/000001.json"
    values = json.loads(uri.read_text())
    values["tables"]["files"]["rows"] = -1
    uri.write_text(json.dumps(values))
    with pytest.raises(BitcipherError, match=r"000001\.json"):
        list_sources([str(tmp_path / "out")])


def test_source_that_changes_before_it_is_read_raises(corpus, tmp_path, monkeypatch):
    original = CleanStage.__call__

    def change_source_and_clean(*arguments):
        write_lines(corpus / "a.jsonl", "Other text.")
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(CleanStage, "__call__", change_source_and_clean)
        with pytest.raises(BitcipherError, match=r"a\.jsonl changed while it was read"):
            make_shards(tmp_path / "out", corpus, **NEAR)
    make_shards(tmp_path / "out", corpus, **NEAR)
    assert "Other text." in texts_in(tmp_path / "out")


def test_source_that_changes_after_it_was_read_is_changed_for_the_next_call(corpus, tmp_path, monkeypatch):
    make_shards(tmp_path / "expected", corpus, **NEAR)
    original = parquet_files.write_table

    def write_and_change_source(uri, table):
        original(uri, table)
        write_lines(corpus / "a.jsonl", "Other text.")

    with monkeypatch.context() as patch:
        patch.setattr(parquet_files, "write_table", write_and_change_source)
        make_shards(tmp_path / "out", corpus, **NEAR)
    assert texts_in(tmp_path / "out") == texts_in(tmp_path / "expected")
    changes = make_shards(tmp_path / "out", corpus, **NEAR).changes
    assert [source.uri for source in changes.changed] == [str(corpus / "a.jsonl")]
