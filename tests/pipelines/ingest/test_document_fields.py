import io
import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.ingest import document_fields
from pipelines.ingest.document_fields import MISSING, USUAL_FIELDS, DetailFinder, find_value
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.readers import read_source
from pipelines.ingest.sources import list_sources
from pipelines.shard.options import ShardOptions

URL = "http://example.org/a"
LAYOUTS = [
    {"url": URL, "timestamp": "2020", "language": "en"},
    {"meta": {"url": URL, "timestamp": "2020", "language": "en"}},
    {"metadata": {"url": URL, "language": "en"}, "created": "2020"},
    {
        "warc_headers": {
            "warc-target-uri": URL,
            "warc-date": "2020",
            "warc-identified-content-language": "en",
        }
    },
    {"meta": json.dumps({"url": URL, "timestamp": "2020", "language": "en"})},
]


def read(path, options=None):
    (source,) = list_sources([str(path)])
    quarantine = Quarantine(source.uri, 0)
    return list(read_source(source, options or ShardOptions(), quarantine)), quarantine.decisions


@pytest.mark.parametrize("record", LAYOUTS, ids=lambda record: next(iter(record)))
def test_details_are_read_in_layouts_of_public_corpora(tmp_path, record):
    row = {"text": "words", **record}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        (document,), decisions = read(tmp_path / name)
        assert document[2:] == (URL, "2020", "en")
        assert all("url" in record or any(detail in each for each in decisions) for detail in ("url", "language"))


def test_literal_key_comes_before_the_path():
    record = {"meta.url": "literal", "meta": {"url": "nested", "a.b": {"c": 1}}}
    assert find_value(record, "meta.url") == "literal"
    assert find_value(record, "meta.a.b.c") == 1
    assert find_value(record, "meta.nothing") is MISSING


def test_options_name_the_fields(tmp_path):
    row = {"text": "words", "url": "http://other.example/", "source": {"link": URL, "day": 20200131}, "lang": "de"}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    options = ShardOptions(url_field="source.link", date_field="source.day", language_field="lang")
    (document,), decisions = read(tmp_path / "a.jsonl", options)
    assert document[2:] == (URL, "20200131", "de")
    assert "file with the url in source.link" in decisions


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array(["u", None]).dictionary_encode(), ["u", ""]),
        (pa.array([b"u", b"caf\xe9"]), ["u", "caf\ufffd"]),
        (pa.array([5, None]), ["5", ""]),
        (pa.array([1.5, None]), ["1.5", ""]),
        (pa.array([datetime(2020, 1, 31, tzinfo=UTC), None]), ["2020-01-31T00:00:00.000000Z", ""]),
        (pa.array([[("x", "1")], None], pa.map_(pa.string(), pa.string())), ["", ""]),
        (pa.array([True, False]), ["", ""]),
        (pa.nulls(2), ["", ""]),
    ],
)
def test_columns_of_all_types(tmp_path, values, expected):
    stream = io.BytesIO()
    pq.write_table(pa.table({"text": ["a", "b"], "date": values}), stream)
    (tmp_path / "a.parquet").write_bytes(stream.getvalue())
    documents, _ = read(tmp_path / "a.parquet")
    assert [document.date for document in documents] == expected


def test_records_of_the_same_fields_can_have_other_details(monkeypatch):
    monkeypatch.setattr(document_fields, "MAX_LAYOUTS", 1)
    finder = DetailFinder(USUAL_FIELDS)
    records = [
        {"text": "a", "url": None, "meta": {"url": "u"}},
        {"text": "a", "url": "v", "meta": {}},
        {"text": "a", "meta.url": "w"},
        {"text": "a"},
        {"text": "a", "url": "x", "meta": None},
    ]
    for _ in range(2):
        assert [next(finder.find(record)) for record in records] == ["u", "v", "w", "", "x"]
    assert finder.found == {"meta.url": "file with the url in meta.url"}
