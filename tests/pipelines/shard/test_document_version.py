"""Tables of document shards: read back equal, with the same names again, and one sentence about a damaged table."""

import hashlib
import re

import pytest
from document_shards import make_shards, write_lines
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, parquet_files, storage
from pipelines.ingest.document_folder import DocumentFile, find_document_files
from pipelines.ingest.sources import Source, list_sources
from pipelines.shard.accounts import Accounts, Example
from pipelines.shard.document_version import KINDS, DocumentContents, DocumentVersion, PublishedTask, read_newest

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
NUMBERS = st.integers(0, 2**63 - 1)
HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)
TUPLES = st.lists(TEXTS, max_size=3).map(tuple)
COUNTS = st.dictionaries(TEXTS, NUMBERS, max_size=2)
EXAMPLES = st.lists(st.builds(Example, digest=TEXTS, url=TEXTS, excerpt=TEXTS), max_size=2).map(tuple)
ACCOUNTS = st.builds(
    Accounts,
    records=NUMBERS,
    dropped=COUNTS,
    hosts=COUNTS,
    examples=st.dictionaries(TEXTS, EXAMPLES, max_size=2),
)
FILES = st.builds(
    DocumentFile,
    name=HASHES.map("documents/{}.parquet".format),
    sha256=HASHES,
    key_hashes=st.dictionaries(TEXTS, HASHES, max_size=2),
    **dict.fromkeys(("size", "documents", "words", "text_bytes"), NUMBERS),
)
SOURCES = st.builds(Source, uri=TEXTS.map("/corpus/{}".format), size=NUMBERS, format=st.just("wet"), sha256=HASHES)
TASKS = st.builds(
    PublishedTask,
    id=TEXTS,
    accounts=ACCOUNTS,
    **dict.fromkeys(("sources", "files", "dropped_files", "quarantine_files", "copies_of"), TUPLES),
)
CONTENTS = st.builds(
    DocumentContents,
    **{
        name: st.lists(records, max_size=4).map(tuple)
        for name, records in {"files": FILES, "sources": SOURCES, "tasks": TASKS}.items()
    },
)


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    """Manifest of some document shards."""
    folder = tmp_path_factory.mktemp("manifest")
    return make_shards(folder / "out", write_lines(folder / "a.jsonl", "A text.")).manifest


@given(contents=CONTENTS)
@settings(max_examples=100, deadline=None)
def test_tables_are_read_back_equal_and_have_the_same_names_again(folder, manifest, contents):
    tables = contents.write(folder, 1)
    version = DocumentVersion(folder, manifest.copy_with(tables=tables))
    for name in KINDS:
        assert version.table(name) == getattr(contents, name)
    assert contents.write(folder, 1) == tables


@pytest.fixture
def shards(tmp_path):
    """Folder of document shards."""
    make_shards(tmp_path / "out", write_lines(tmp_path / "a.jsonl", "A text.", "Another text."))
    return tmp_path / "out"


def test_size_of_a_manifest_does_not_grow_with_the_number_of_sources(tmp_path):
    sizes = []
    for number in (2, 40):
        sources = [write_lines(tmp_path / f"{number}/{n}.jsonl", f"Text {n}.") for n in range(number)]
        make_shards(tmp_path / f"out-{number}", *sources)
        sizes.append((tmp_path / f"out-{number}/manifests/000001.json").stat().st_size)
    assert abs(sizes[0] - sizes[1]) < 20  # only the numbers have more digits


@pytest.mark.parametrize("name", KINDS)
def test_damaged_table_is_named(shards, tmp_path, name):
    table = next((shards / "manifests").glob(f"*-{name}-*"))
    table.write_bytes(table.read_bytes()[:-1])
    with pytest.raises(BitcipherError, match=re.escape(f"{table} is damaged")):
        make_shards(shards, tmp_path / "a.jsonl")


def replace_table(shards, name, change):
    """Change the rows of a table, and refer to the changed table in the manifest."""
    version = read_newest(str(shards))
    rows = parquet_files.read_table(version.table_uri(name)).to_pylist()
    for row in rows:
        change(row)
    table = KINDS[name].schema.empty_table().from_pylist(rows, KINDS[name].schema)
    parquet_files.write_table(str(shards / "table"), table)
    content = (shards / "table").read_bytes()
    (shards / "table").unlink()
    sha256 = hashlib.sha256(content).hexdigest()
    tables = version.manifest.tables
    changed = version.manifest.copy_with(
        tables=tables.copy_with(**{name: getattr(tables, name).copy_with(sha256=sha256)})
    )
    storage.write_bytes(DocumentVersion(str(shards), changed).table_uri(name), content)
    json_files.write(str(shards / "manifests/000001.json"), changed.to_dict())


def test_file_outside_of_the_folder_is_refused(shards):
    replace_table(shards, "files", lambda row: row.update(name="../../etc/passwd"))
    with pytest.raises(BitcipherError, match=r"000001-files-.*\.parquet: .*name.* of row 1"):
        list_sources([str(shards)])


def test_task_with_a_source_that_is_not_listed_is_refused(shards, tmp_path):
    replace_table(shards, "tasks", lambda row: row.update(sources=["0" * 64]))
    with pytest.raises(BitcipherError, match=r"000001-tasks-.* sources that are not in the table"):
        make_shards(shards, tmp_path / "a.jsonl")


def test_format_of_another_version_is_named(shards):
    uri = shards / "manifests/000001.json"
    values = json_files.read(str(uri))
    json_files.write(str(uri), {**values, "format": "bitcipher-documents/2"})
    for read in (read_newest, find_document_files):
        with pytest.raises(BitcipherError, match=r"000001\.json: the format is 'bitcipher-documents/2'"):
            read(str(shards))


def test_tables_of_an_interrupted_call_are_removed(shards, tmp_path):
    stale = shards / f"manifests/000001-tasks-{'0' * 8}.parquet"
    others = [shards / f"manifests/{name}" for name in (f"000000-tasks-{'0' * 8}.parquet", "notes.txt")]
    for file in (stale, *others):
        file.write_bytes(b"x")
    make_shards(shards, tmp_path / "a.jsonl")
    assert not stale.exists()
    assert all(file.exists() for file in others)
    assert [row.words for row in find_document_files(str(shards))] == [4]
