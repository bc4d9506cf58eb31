"""Sample of a corpus: documents of all files, parts of doubling size, and text per stored byte."""

import gzip
import json
from itertools import chain

import pytest
from builds import write_lines

from bitcipher.errors import BitcipherError
from pipelines.estimate.limits import bad_record_limits
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


def test_sample_has_as_many_small_files_as_its_text_needs(tmp_path):
    for number in range(100):
        write_lines(tmp_path / f"{number:03d}.jsonl", [f"text-{number} " * 50])
    sources = list_sources([str(tmp_path)])
    sample = read_sample(sources, ReadOptions(), sum(source.size for source in sources) // 2)
    texts = {document.split(" ")[0] for document in sample.documents}
    assert len(texts) == pytest.approx(50, abs=3)
    assert {f"text-{number}" for number in (0, 50, 98)} <= texts  # evenly spaced


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


def write_with_bad_lines(path, documents, every):
    """Write JSON lines, of which one of `every` is followed by a bad line."""
    lines = [json.dumps({"text": text}) + ("\n{" if i % every == 0 else "") for i, text in enumerate(documents)]
    content = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    return path


def test_bad_records_of_a_small_file_are_counted(documents, tmp_path):
    path = write_with_bad_lines(tmp_path / "a.jsonl", documents[:40], 10)
    (records,) = read_sample(list_sources([str(path)]), ReadOptions()).records
    assert (records.uri, records.read, records.bad) == (str(path), 44, 4)
    (sentence,) = bad_record_limits([records], 0.05)
    assert sentence.startswith(f"4 of the first 44 records of {path} are bad (9.1%), and a build fails if")
    assert f"The first bad record: Line 2 of {path} is not JSON" in sentence
    assert bad_record_limits([records], 0.1) == []


@pytest.mark.parametrize("every", [10, 10**9])
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_record_in_which_a_sampled_beginning_ends_is_not_bad(documents, tmp_path, ending, every):
    path = write_with_bad_lines(tmp_path / f"a{ending}", documents * 4, every)
    size = sum(len(text.encode()) for text in documents)
    (records,) = read_sample(list_sources([str(path)]), ReadOptions(), size // 5).records
    assert 0 < records.read < 4 * len(documents)
    if every == 10:
        assert records.bad == pytest.approx(records.read / 11, abs=2)
    else:
        assert records.bad == 1  # the second line
    assert f"Line 2 of {path} is not JSON" in records.example  # not the name of the temporary copy


def test_file_without_good_records_raises(tmp_path):
    good, bad = write_lines(tmp_path / "a.jsonl", ["some words here"] * 50), tmp_path / "b.jsonl"
    bad.write_text("{\n" * 50)
    with pytest.raises(BitcipherError, match=r"50 of 50 records of .*b\.jsonl are bad"):
        read_sample(list_sources([str(good), str(bad)]), ReadOptions())
