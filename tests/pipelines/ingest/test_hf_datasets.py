"""Datasets of Hugging Face: streamed from a local folder, and folders of `save_to_disk`."""

import datetime
import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from builds import OPTIONS, digests, run_build, run_update
from document_shards import make_shards, read_documents, texts_in
from hub_server import HubServer, check_escaped, make_hostile, run_python
from web_server import WebServer

from bitcipher.errors import BitcipherError
from pipelines.ingest.content_hash import hash_sources
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.readers import read_source
from pipelines.ingest.sources import list_sources
from pipelines.runtime.in_process import InProcessRuntime

datasets = pytest.importorskip("datasets")

ROWS = {
    "text": ["the cat saw", "the dog\nran", None, "naïve قلب 😀"],
    "body": ["a", "b", "c", "d"],
    "url": ["u1", None, "u3", "u4"],
    "date": [datetime.datetime(2024, 5, day) for day in (1, 2, 3, 4)],
    "language": ["en"] * 4,
    "number": [1, 2, 3, 4],
}


@pytest.fixture(scope="module", autouse=True)
def quiet_datasets(tmp_path_factory):
    datasets.disable_progress_bars()
    cache = datasets.config.HF_DATASETS_CACHE
    datasets.config.HF_DATASETS_CACHE = tmp_path_factory.mktemp("cache")
    yield
    datasets.config.HF_DATASETS_CACHE = cache


@pytest.fixture
def dataset():
    return datasets.Dataset.from_dict(ROWS)


@pytest.fixture
def parquet_folder(dataset, tmp_path):
    folder = tmp_path / "parquet folder"
    folder.mkdir()
    dataset.to_parquet(folder / "train-0.parquet")
    dataset.select([0]).to_parquet(folder / "test-0.parquet")
    return folder


@pytest.fixture
def saved(dataset, tmp_path):
    splits = {"train": dataset, "test": dataset.select([0])}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "saved", num_shards={"train": 2, "test": 1})
    return tmp_path / "saved"


def documents(pattern, **options):
    read = ReadOptions(**options)
    return [document for source in list_sources([str(pattern)]) for document in read_source(source, read)]


def texts(pattern, **options):
    return ["".join(document.strings) for document in documents(pattern, **options)]


def hashes(pattern):
    return [source.sha256 for source in hash_sources(list_sources([str(pattern)]), [], InProcessRuntime())]


COUNT_ALL = OPTIONS.copy_with(min_count=1)
TEXTS = [text or "" for text in ROWS["text"]]


class TestStreaming:
    def test_rows_are_read_with_their_details(self, parquet_folder):
        rows = documents(f"hf://{parquet_folder}?split=train")
        assert ["".join(row.strings) for row in rows] == TEXTS
        assert [row.offset for row in rows] == [1, 2, 3, 4]
        assert rows[0][2:] == ("u1", "2024-05-01T00:00:00", "en")
        assert rows[1].url == ""

    def test_field_of_the_uri_overrides_the_option(self, parquet_folder):
        assert texts(f"hf://{parquet_folder}?split=train&field=body", field="text") == ROWS["body"]
        assert texts(f"hf://{parquet_folder}?split=train", field="body") == ROWS["body"]

    def test_all_splits_are_listed_without_a_split(self, parquet_folder):
        sources = list_sources([f"hf://{parquet_folder}"])
        assert [source.uri for source in sources] == [f"hf://{parquet_folder}?split={s}" for s in ("test", "train")]
        assert {source.format for source in sources} == {"hf"}
        assert sources[1].size == (parquet_folder / "train-0.parquet").stat().st_size

    @pytest.mark.parametrize("kind", ["json", "csv"])
    def test_other_formats(self, dataset, tmp_path, kind):
        (tmp_path / "data").mkdir()
        getattr(dataset.select([0, 1]), f"to_{kind}")(tmp_path / "data" / f"train.{kind}")
        assert texts(f"hf://{tmp_path}/data?split=train") == TEXTS[:2]

    def test_configurations(self, parquet_folder):
        card = "---\nconfigs:\n- config_name: small\n  data_files: test-0.parquet\n- config_name: large\n" + (
            "  data_files: train-0.parquet\n---\n"
        )
        (parquet_folder / "README.md").write_text(card)
        assert texts(f"hf://{parquet_folder}?config=small&split=train") == TEXTS[:1]
        with pytest.raises(BitcipherError, match=r"small.*large"):
            list_sources([f"hf://{parquet_folder}"])

    def test_hash_depends_on_content_and_field_only(self, parquet_folder):
        (before,) = hashes(f"hf://{parquet_folder}?split=train")
        moved = parquet_folder.rename(parquet_folder.with_name("moved"))
        os.utime(moved / "train-0.parquet", (1, 1))
        assert hashes(f"hf://{moved}?split=train") == [before]
        assert hashes(f"hf://{moved}?split=train&field=body") != [before]
        datasets.Dataset.from_dict({"text": ["x"]}).to_parquet(moved / "train-0.parquet")
        assert hashes(f"hf://{moved}?split=train") != [before]

    def test_build_and_update(self, dataset, parquet_folder, tmp_path):
        pattern = f"hf://{parquet_folder}?split=train"
        run_build([pattern], tmp_path / "build", COUNT_ALL)
        dataset.to_json(tmp_path / "reference.jsonl", force_ascii=False)
        run_build([tmp_path / "reference.jsonl"], tmp_path / "reference", COUNT_ALL)
        assert digests(tmp_path / "build").counts == digests(tmp_path / "reference").counts
        _, changes = run_update(tmp_path / "build", [f"hf://{parquet_folder}"])
        assert [len(changes.unchanged), len(changes.new)] == [1, 1]
        (parquet_folder / "test-0.parquet").unlink()
        _, changes = run_update(tmp_path / "build", [f"hf://{parquet_folder}"])
        assert [source.uri for source in changes.vanished] == [f"hf://{parquet_folder}?split=test"]

    def test_document_shards(self, parquet_folder, tmp_path):
        make_shards(tmp_path / "out", f"hf://{parquet_folder}?split=train")
        assert texts_in(tmp_path / "out") == sorted(filter(None, TEXTS))
        assert set(read_documents(tmp_path / "out")["source"].to_pylist()) == {f"hf://{parquet_folder}?split=train"}

    def test_bad_rows(self, parquet_folder):
        (source,) = list_sources([f"hf://{parquet_folder}?split=train&field=number"])
        quarantine = Quarantine(source.uri, 1.0)
        assert list(read_source(source, ReadOptions(), quarantine)) == []
        assert quarantine.reasons == {"not a string": 4}

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            ("?split=dev", "no split 'dev': choose train, test"),
            ("?split=train&field=nothing", "no column 'nothing'; its columns are text, body"),
            ("?config=other", "other"),
            ("?splits=train", "config, split, field, revision"),
            ("?split=train&split=test", "each once"),
            ("?token=hunter2", "config, split, field, revision"),
        ],
    )
    def test_wrong_parameters_raise(self, parquet_folder, query, message):
        with pytest.raises(BitcipherError, match=message) as error:
            documents(f"hf://{parquet_folder}{query}")
        assert "hunter2" not in str(error.value)

    def test_missing_datasets_raise(self, tmp_path):
        for name in (tmp_path / "gone", "nobody/nothing"):
            with pytest.raises(BitcipherError, match=f"Cannot open hf://{name}"):
                list_sources([f"hf://{name}"])

    def test_description_cannot_name_other_files(self, parquet_folder, tmp_path):
        (tmp_path / "secret.txt").write_text("secret")
        for name in (tmp_path / "secret.txt", "../secret.txt"):
            (parquet_folder / "README.md").write_text(f"---\nconfigs:\n- config_name: c\n  data_files: {name}\n---\n")
            with pytest.raises(BitcipherError, match=r"not a file of the dataset|Cannot open"):
                list_sources([f"hf://{parquet_folder}"])

    def test_code_of_a_dataset_is_not_run(self, parquet_folder):
        script = parquet_folder / f"{parquet_folder.name}.py"
        script.write_text("raise SystemExit('ran')")
        with suppress(BitcipherError):
            documents(f"hf://{parquet_folder}?split=train")

    def test_revision_is_pinned_while_a_command_runs(self, monkeypatch, tmp_path):
        commit = "0123456789abcdef" * 2 + "01234567"
        files = {"train": [f"hf://datasets/org/name@{commit}/train.parquet"]}
        asked = []

        class Builder:
            class config:
                data_files = files

        class Files:
            def info(self, path):
                return {"size": 5}

        def load_dataset_builder(name, config, revision):
            asked.append(revision)
            return Builder

        from pipelines.ingest import hf_datasets

        monkeypatch.setattr(datasets, "load_dataset_builder", load_dataset_builder)
        monkeypatch.setattr(hf_datasets, "url_to_fs", lambda uri: (Files(), uri))
        (source,) = list_sources(["hf://org/name"])
        assert source.uri == "hf://org/name?split=train"
        assert source.read_uri == f"hf://org/name?split=train&revision={commit}"
        (again,) = list_sources([source.read_uri])
        assert (again.stamp, again.size) == (source.stamp, 5)
        assert asked == [None, commit]
        (before,) = hashes("hf://org/name")
        files["train"] = [files["train"][0].replace("0", "f")]
        assert hashes("hf://org/name") != [before]


class TestSavedDatasets:
    def test_all_splits(self, saved):
        sources = list_sources([str(saved)])
        assert [Path(source.uri).relative_to(saved).parts[0] for source in sources] == ["test", "train", "train"]
        assert {source.format for source in sources} == {"arrow"}

    def test_one_split(self, saved):
        rows = documents(f"{saved}?split=train")
        assert ["".join(row.strings) for row in rows] == TEXTS
        assert [row.offset for row in rows] == [1, 2, 1, 2]
        assert rows[0][2:] == ("u1", "2024-05-01T00:00:00.000000", "en")
        assert texts(saved / "train") == TEXTS
        assert texts(f"{saved}?split=test", field="body") == ["a"]

    def test_single_dataset(self, dataset, tmp_path):
        dataset.save_to_disk(tmp_path / "single")
        assert texts(tmp_path / "single") == TEXTS
        with pytest.raises(BitcipherError, match="no split 'train': it is a single dataset"):
            list_sources([f"{tmp_path}/single?split=train"])

    def test_unknown_split_raises(self, saved):
        with pytest.raises(BitcipherError, match="no split 'dev': choose train, test"):
            list_sources([f"{saved}?split=dev"])

    def test_split_of_another_folder_raises(self, parquet_folder):
        with pytest.raises(BitcipherError, match="not a folder that `save_to_disk` wrote"):
            list_sources([f"{parquet_folder}?split=train"])

    def test_files_that_the_dataset_does_not_list_are_skipped(self, saved):
        (saved / "train" / "old.arrow").write_bytes(b"old")
        (saved / "notes.txt").write_text("notes")
        assert len(list_sources([str(saved)])) == 3

    def test_missing_file_raises(self, saved):
        os.remove(saved / "train/data-00001-of-00002.arrow")
        with pytest.raises(BitcipherError, match=r"data-00001-of-00002\.arrow is missing"):
            list_sources([str(saved)])

    @pytest.mark.parametrize("name", ["../../secret.arrow", "/etc/passwd", "a/b.arrow"])
    def test_names_cannot_leave_the_folder(self, saved, name):
        (saved / "test/state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
        with pytest.raises(BitcipherError, match=r"state\.json"):
            list_sources([str(saved)])

    def test_vanished_split_is_found(self, saved, tmp_path):
        run_build([str(saved)], tmp_path / "build", COUNT_ALL)
        datasets.Dataset.from_dict({"text": ["new"]}).save_to_disk(saved / "train")
        _, changes = run_update(tmp_path / "build", [f"{saved}?split=train"])
        assert len(changes.new) == 1
        assert len(changes.vanished) == 2

    def test_package_is_not_imported(self, saved, monkeypatch):
        monkeypatch.setitem(sys.modules, "datasets", None)
        assert texts(f"{saved}?split=train") == TEXTS


class TestArrowFiles:
    def write(self, path, table, new=pa.ipc.new_stream):
        with new(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=300)
        return path

    @pytest.mark.parametrize("new", [pa.ipc.new_stream, pa.ipc.new_file])
    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
    def test_streams_and_files(self, tmp_path, new, kind):
        values = [f"text {number}" for number in range(1000)]
        path = self.write(tmp_path / "a.arrow", pa.table({"text": pa.array(values, kind)}), new)
        assert texts(path) == values
        assert [row.offset for row in documents(path)] == list(range(1, 1001))

    def test_bytes_that_are_not_utf8(self, tmp_path):
        column = pa.array([b"caf\xe9"]).view(pa.string())
        assert texts(self.write(tmp_path / "a.arrow", pa.table({"text": column}))) == ["caf\ufffd"]

    def test_wrong_column_raises_even_without_rows(self, tmp_path):
        path = self.write(tmp_path / "a.arrow", pa.table({"body": pa.array([], pa.string())}))
        with pytest.raises(BitcipherError, match="no column 'text'"):
            documents(path)

    def test_damaged_file_is_read_or_raises(self, tmp_path):
        path = self.write(tmp_path / "a.arrow", pa.table({"text": ["word"] * 1000}))
        content = path.read_bytes()
        for position in range(0, len(content), 97):
            path.write_bytes(content[:position] + b"\xff\xff\xff\x7f" + content[position + 4 :])
            with suppress(BitcipherError):
                documents(path)

    def test_truncated_file_raises(self, tmp_path):
        path = self.write(tmp_path / "a.arrow", pa.table({"text": ["word"] * 1000}))
        path.write_bytes(path.read_bytes()[:-700])
        with pytest.raises(BitcipherError, match=r"a\.arrow as Arrow after row \d+"):
            documents(path)


def test_hostile_servers_write_nothing(tmp_path):
    with HubServer() as hub:
        hub.repositories["ada/good"] = {"README.md": b"---\n---\n", "a.jsonl": b'{"text": "good words"}\n'}
        cases = make_hostile(hub, tmp_path / "escaped", hub.repositories["ada/good"])
        code = f"""
from pipelines.ingest.hf_datasets import list_splits, stream_rows
print(list(stream_rows("hf://ada/good?split=train")))
for name in {list(cases)}:
    try:
        print("read", list_splits(f"hf://{{name}}"), list(stream_rows(f"hf://{{name}}?split=train")))
    except BitcipherError as error:
        print(error)
"""
        good, *printed = run_python(hub, tmp_path, code).splitlines()
    assert good == "[{'text': 'good words'}]"
    for name, line in zip(cases, printed, strict=True):
        assert re.fullmatch(rf"Cannot open hf://{name}.*, which could write outside .*: check HF_ENDPOINT\.", line)
    assert check_escaped(tmp_path) == []


def test_descriptions_send_no_request_to_other_addresses(tmp_path):
    (tmp_path / "secret.jsonl").write_text('{"text": "private words"}\n')
    with HubServer() as hub, WebServer() as web:
        hub.repositories["ada/private"] = {"a.jsonl": b"{}"}
        patterns = [
            f"{web.address}/a.jsonl",
            f"simplecache::{web.address}/a.jsonl",
            f"zip://a.jsonl::{web.address}/a.zip",
        ]
        patterns += [f"{tmp_path}/secret.jsonl", f"file://{tmp_path}/secret.jsonl", "../../a.jsonl", "~/a.jsonl"]
        patterns += ["hf://datasets/ada/private/a.jsonl"]
        for number, pattern in enumerate(patterns):
            files = [{"split": "train", "path": pattern}]
            card = json.dumps({"configs": [{"config_name": "default", "data_files": files}]})
            hub.repositories[f"ada/{number}"] = {"README.md": f"---\n{card}\n---\n".encode()}
        code = f"""
from pipelines.ingest.hf_datasets import list_splits
for number in range({len(patterns)}):
    try:
        print("read", list_splits(f"hf://ada/{{number}}"))
    except BitcipherError as error:
        print(error)
"""
        printed = run_python(hub, tmp_path, code).splitlines()
        assert web.requests == []
        assert not any("private" in path for _, path in hub.requests)
    for pattern, line in zip(patterns, printed, strict=True):
        assert f"it refers to {pattern}, which is not a file of the dataset; correct its README." in line
