"""Sample of a corpus: documents of all files, parts of doubling size, and text per stored byte."""

import gzip
import json
from itertools import chain

import pytest
from builds import write_lines

from bitcipher.errors import BitcipherError
from pipelines.estimate.sample import partition, read_sample
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.sources import list_sources


def test_each_part_is_as_large_as_all_preceding_parts():
    documents = [str(i) for i in range(640)]
    parts = partition(documents)
    assert sorted(chain(*parts)) == sorted(documents)
    assert [len(part) for part in parts] == [10, 10, 20, 40, 80, 160, 320]
    assert partition(["one"]) == [["one"]]


def test_small_corpus_is_read_completely(corpus, documents):
    sample = read_sample(list_sources([str(corpus)]), ReadOptions())
    assert sorted(sample.documents) == sorted(filter(str.strip, documents))


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_text_per_stored_byte_is_measured_at_the_beginning_of_files(documents, tmp_path, ending):
    lines = "".join(json.dumps({"url": "https://example.org", "text": text}) + "\n" for text in documents * 4).encode()
    content = gzip.compress(lines, 1) if ending.endswith(".gz") else lines
    for name in "ab":
        (tmp_path / f"{name}{ending}").write_bytes(content)
    sources = list_sources([str(tmp_path)])
    text = 8 * sum(len(text.encode()) for text in documents)
    sample = read_sample(sources, ReadOptions(), text // 10)
    true = text / sum(source.size for source in sources)
    assert sample.text_per_stored_byte == pytest.approx(true, rel=0.1)
    assert sum(len(text.encode()) for text in sample.documents) == pytest.approx(text / 10, rel=0.35)


def test_one_long_document_is_split_into_many(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", ["the words of one long document " * 5_000])
    assert len(read_sample(list_sources([str(path)]), ReadOptions()).documents) > 60


def test_missing_fields_raise(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", ["some words here " * 50] * 5_000)
    with pytest.raises(BitcipherError, match="has no field 'body'"):
        read_sample(list_sources([str(path)]), ReadOptions(field="body"), 10_000)


def test_sources_without_documents_raise(tmp_path):
    (tmp_path / "a.txt").write_text("\n \n\n")
    with pytest.raises(BitcipherError, match="no documents"):
        read_sample(list_sources([str(tmp_path)]), ReadOptions())
