"""Document shards and their consumers: builds, updates, other libraries, and Ray."""

import pytest
from builds import OPTIONS, digests, run_build, run_update
from document_shards import content_of, make_shards, read_documents, texts_in, write_lines
from web_pages import page, warc

from bitcipher.errors import BitcipherError
from pipelines.ingest.recipes import read_recipe
from pipelines.shard.document_version import read_newest
from pipelines.shard.options import RECIPES, ShardOptions

OPTIONS_OF_SHARDS = {
    "shard_mib": 1,
    "duplicates": {"near": {}, "paragraphs": {}, "host_lines": {}},
    "keep_dropped": True,
}


@pytest.fixture
def crawl(tmp_path):
    """Two WARC files with some pages in common."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    (folder / "a.warc.gz").write_bytes(warc(*map(page, range(40))))
    (folder / "b.warc.gz").write_bytes(warc(*map(page, range(30, 80))))
    return folder


def test_recipe_turns_archives_into_clean_documents_and_vectors(crawl, tmp_path):
    values, _ = read_recipe("commoncrawl-warc", RECIPES, ShardOptions)
    result = make_shards(tmp_path / "documents", crawl, **values)
    assert result.manifest.accounts.languages == {"en": 80}
    assert result.manifest.accounts.dropped == {"duplicate document": 10}
    table = read_documents(tmp_path / "documents")
    assert set(table["date"].to_pylist()) == {"2024-05-01T00:00:00Z"}
    assert not any("Home" in text for text in table["text"].to_pylist())
    manifest = run_build([tmp_path / "documents"], tmp_path / "vectors")
    assert manifest["documents"] == 80
    assert [source["sha256"] for source in manifest["sources"]] == [
        file.sha256 for file in read_newest(str(tmp_path / "documents")).files
    ]


def test_update_from_added_shards_equals_a_build_of_the_folder(crawl, tmp_path):
    documents = tmp_path / "documents"
    make_shards(documents, crawl / "a.warc.gz", **OPTIONS_OF_SHARDS)
    run_build([documents], tmp_path / "updated")
    make_shards(documents, crawl, **OPTIONS_OF_SHARDS)
    _, changes = run_update(tmp_path / "updated", [documents])
    assert (len(changes.new), len(changes.unchanged), changes.vanished) == (1, 1, [])
    run_build([documents], tmp_path / "whole")
    assert digests(tmp_path / "updated") == digests(tmp_path / "whole")


def test_sources_and_shards_give_the_same_vectors(tmp_path):
    source = write_lines(tmp_path / "a.jsonl", *(page(number) for number in range(30)))
    make_shards(tmp_path / "documents", source)
    run_build([source], tmp_path / "direct", OPTIONS)
    run_build([tmp_path / "documents"], tmp_path / "sharded", OPTIONS)
    assert digests(tmp_path / "direct") == digests(tmp_path / "sharded")


def test_damaged_shard_is_named_and_not_counted(crawl, tmp_path):
    make_shards(tmp_path / "documents", crawl)
    (path,) = (tmp_path / "documents/documents").iterdir()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(BitcipherError, match=rf"{path.name} is damaged: its content differs"):
        run_build([tmp_path / "documents"], tmp_path / "vectors")


@pytest.mark.long
def test_other_libraries_read_the_shards(crawl, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    import datasets
    import duckdb
    import pandas

    make_shards(tmp_path / "documents", crawl, **OPTIONS_OF_SHARDS)
    folder = tmp_path / "documents/documents"
    expected = texts_in(tmp_path / "documents")
    assert sorted(datasets.load_dataset(str(folder), split="train")["text"]) == expected
    rows = duckdb.sql(f"SELECT text FROM '{folder}/*.parquet' WHERE words > 0 ORDER BY text").fetchall()
    assert sorted(text for (text,) in rows) == expected
    assert sorted(pandas.read_parquet(folder)["text"]) == expected


@pytest.mark.long
def test_ray_data_and_this_process_give_the_same_bytes(ray_cluster, crawl, tmp_path):
    import ray.data

    make_shards(tmp_path / "here", crawl, **OPTIONS_OF_SHARDS)
    make_shards(tmp_path / "there", crawl, workers=2, **OPTIONS_OF_SHARDS)
    assert content_of(tmp_path / "here") == content_of(tmp_path / "there")
    rows = ray.data.read_parquet(str(tmp_path / "there/documents")).take_all()
    assert sorted(row["text"] for row in rows) == texts_in(tmp_path / "here")


@pytest.mark.parametrize("name", sorted(path.stem for path in RECIPES.glob("*.yaml")))
def test_each_recipe_keeps_prose(name, tmp_path):
    values, sources = read_recipe(name, RECIPES, ShardOptions)
    assert (sources, ShardOptions.parse(values).rules != ()) == ([], True)
    pages = [page(number) for number in range(20)]
    source = write_lines(tmp_path / "a.jsonl", *pages, "404", url="http://a.example/")
    make_shards(tmp_path / "out", source, **values)
    assert texts_in(tmp_path / "out") == sorted([*pages, "404"] if name == "babylm" else pages)


def test_empty_file_among_sources_has_no_documents(tmp_path):
    write_lines(tmp_path / "corpus/a.jsonl", *(page(number) for number in range(5)))
    (tmp_path / "corpus/empty.jsonl").touch()
    make_shards(tmp_path / "documents", tmp_path / "corpus")
    assert len(texts_in(tmp_path / "documents")) == 5
    assert run_build([tmp_path / "corpus"], tmp_path / "vectors")["documents"] == 5
