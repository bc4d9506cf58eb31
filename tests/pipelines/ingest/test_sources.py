import os

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given
from hypothesis import strategies as st
from web_server import WebServer

from bitcipher.errors import BitcipherError
from bitcipher.files import http_connection
from pipelines.ingest.sources import Source, compression_of, format_of, list_sources


@pytest.fixture
def corpus(tmp_path):
    """Directory with two source files, one in a subdirectory, and many files that are not sources."""
    for name in (
        "b.txt",
        "a.jsonl.gz",
        "deep/er/c.parquet",
        "README.md",
        ".hidden.txt",
        ".git/d.txt",
        "deep/.e.txt",
    ):
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "corpus"


def names(sources, folder):
    return [os.path.relpath(source.uri, folder) for source in sources]


@pytest.mark.parametrize(
    ("name", "format", "compression"),
    [
        ("a.txt", "text", ""),
        ("a.txt.xz", "text", ".xz"),
        ("c4-train.00000-of-01024.json.gz", "jsonl", ".gz"),
        ("a.jsonl.zst", "jsonl", ".zst"),
        ("a.ndjson.bz2", "jsonl", ".bz2"),
        ("A.Parquet", "parquet", ""),
        ("CC-MAIN-00000.warc.wet.gz", "wet", ".gz"),
        ("a.warc.gz", "warc", ".gz"),
        ("a.arc.lz4", "arc", ".lz4"),
        ("a.warc.wat.gz", None, ".gz"),
        ("a.parquet.gz", None, ".gz"),
        ("txt", None, ""),
    ],
)
def test_format_and_compression_are_inferred_from_the_ending(name, format, compression):
    assert format_of(name) == format
    assert compression_of(name) == compression


def test_file_given_by_name(corpus):
    path = str(corpus / "a.jsonl.gz")
    (source,) = list_sources([path])
    assert source == Source(uri=path, size=len("a.jsonl.gz"), format="jsonl", stamp=source.stamp)


def test_folder_is_listed_without_hidden_and_unknown_files(corpus):
    assert names(list_sources([str(corpus)]), corpus) == ["a.jsonl.gz", "b.txt", "deep/er/c.parquet"]


def test_hidden_folder_can_be_given_by_name(corpus):
    assert names(list_sources([str(corpus / ".git")]), corpus) == [".git/d.txt"]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*", ["a.jsonl.gz", "b.txt"]),
        ("?.txt", ["b.txt"]),
        ("[ab].*", ["a.jsonl.gz", "b.txt"]),
        ("*/*/*.parquet", ["deep/er/c.parquet"]),
        ("**/*", ["a.jsonl.gz", "b.txt", "deep/er/c.parquet"]),
        (".git/*", [".git/d.txt"]),
    ],
)
def test_globs_find_visible_files(corpus, glob, found):
    assert names(list_sources([str(corpus / glob)]), corpus) == found


def test_file_whose_name_looks_like_a_glob(tmp_path):
    (tmp_path / "a[1].txt").write_text("a")
    assert names(list_sources([str(tmp_path / "a[1].txt")]), tmp_path) == ["a[1].txt"]


def test_relative_and_absolute_paths_give_one_source(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    sources = list_sources(["b.txt", "*.txt", ".", str(corpus), f"file://{corpus}/b.txt"])
    assert names(sources, corpus) == ["a.jsonl.gz", "b.txt", "deep/er/c.parquet"]


def test_sources_in_a_memory_store():
    store = fsspec.filesystem("memory")
    for name in ("b.txt", "deep/a.txt", "deep/.c.txt"):
        store.pipe(f"/listing/{name}", b"text")
    everything = [
        Source(uri="memory:///listing/b.txt", size=4, format="text"),
        Source(uri="memory:///listing/deep/a.txt", size=4, format="text"),
    ]
    assert list_sources(["memory://listing"]) == everything
    assert list_sources(["memory://listing/**/*.txt"]) == everything
    assert list_sources(["memory://listing/b.txt"]) == everything[:1]


def test_sources_are_sorted_by_the_bytes_of_their_names(tmp_path):
    for name in ("é.txt", "z.txt", "B.txt", "a.txt", "10.txt", "9.txt", "😀.txt", "\uffee.txt"):
        (tmp_path / name).write_text("a")
    ordered = names(list_sources([str(tmp_path)]), tmp_path)
    assert ordered == ["10.txt", "9.txt", "B.txt", "a.txt", "z.txt", "é.txt", "\uffee.txt", "😀.txt"]


def test_format_overrides_the_endings(corpus):
    sources = list_sources([str(corpus)], format="text")
    assert {source.format for source in sources} == {"text"}
    assert names(sources, corpus) == ["README.md", "a.jsonl.gz", "b.txt", "deep/er/c.parquet"]


def test_links_to_files_are_read(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "elsewhere.txt").write_text("text")
    (tmp_path / "kept" / "link.txt").symlink_to(tmp_path / "elsewhere.txt")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    assert [source.size for source in list_sources([str(tmp_path / "kept")])] == [4]
    assert [source.size for source in list_sources([str(tmp_path / "link")])] == [4]


def test_empty_file_is_a_source_if_another_is_not_empty(corpus):
    (corpus / "empty.txt").touch()
    assert (str(corpus / "empty.txt"), 0) in [(source.uri, source.size) for source in list_sources([str(corpus)])]


@given(st.lists(st.sampled_from(["*", "**/*", "b.txt", ".", "deep", "*.gz", "deep/*/*"]), min_size=1))
def test_overlapping_patterns_give_each_file_once(tmp_path_factory, patterns):
    folder = tmp_path_factory.getbasetemp() / "overlap"
    (folder / "deep" / "er").mkdir(parents=True, exist_ok=True)
    for name in ("a.txt.gz", "b.txt", "deep/er/c.txt"):
        (folder / name).write_text("text")
    uris = [source.uri for source in list_sources([str(folder / pattern) for pattern in patterns])]
    assert uris == sorted(set(uris))
    assert len(uris) >= 1


class TestErrors:
    def test_no_patterns_raise(self):
        with pytest.raises(BitcipherError, match="No sources are given"):
            list_sources([])

    @pytest.mark.parametrize("name", ["gone.txt", "gone/*.txt", "*.wet", "b.txt/c.txt", "*.md"])
    def test_pattern_without_a_match_raises_with_its_name(self, corpus, name):
        with pytest.raises(BitcipherError) as error:
            list_sources([str(corpus), str(corpus / name)])
        assert str(corpus / name) in str(error.value)

    def test_unknown_ending_raises_with_the_known_endings(self, corpus):
        with pytest.raises(BitcipherError, match=r"README\.md: its ending is unknown.*\.jsonl.*\.wet.*\.zst"):
            list_sources([str(corpus / "README.md")])

    def test_empty_folder_raises_with_its_name(self, tmp_path):
        (tmp_path / "empty").mkdir()
        with pytest.raises(BitcipherError, match="empty: the folder has no readable file"):
            list_sources([str(tmp_path / "empty")])

    def test_build_is_no_source(self, tmp_path):
        (tmp_path / "books" / "versions").mkdir(parents=True)
        (tmp_path / "books" / "versions" / "000001.json").write_text("{}")
        with pytest.raises(BitcipherError, match="books is a build, not text: give the sources"):
            list_sources([str(tmp_path / "books")])

    def test_only_empty_sources_raise(self, tmp_path):
        (tmp_path / "a.txt").touch()
        with pytest.raises(BitcipherError, match="All sources are empty"):
            list_sources([str(tmp_path)])

    def test_unknown_format_raises(self, corpus):
        with pytest.raises(BitcipherError, match="`format` must be one of text, jsonl, parquet, wet"):
            list_sources([str(corpus)], format="csv")

    def test_unknown_protocol_raises(self):
        with pytest.raises(BitcipherError, match=r"Cannot reach nowhere://a\.txt"):
            list_sources(["nowhere://a.txt"])

    def test_broken_link_raises(self, tmp_path):
        (tmp_path / "a.txt").write_text("text")
        (tmp_path / "link.txt").symlink_to(tmp_path / "gone.txt")
        with pytest.raises(BitcipherError, match=r"link\.txt is a broken link"):
            list_sources([str(tmp_path)])

    def test_file_name_that_is_not_utf8_raises(self, tmp_path):
        with open(os.fsencode(tmp_path) + b"/caf\xe9.txt", "wb") as file:
            file.write(b"text")
        with pytest.raises(BitcipherError, match="is not UTF-8"):
            list_sources([str(tmp_path)])

    def test_folder_without_permission_raises(self):
        fsspec.register_implementation("closed", ClosedFileSystem, clobber=True)
        store = fsspec.filesystem("closed")
        store.pipe("/open/a.txt", b"text")
        store.pipe("/open/closed/b.txt", b"text")
        with pytest.raises(BitcipherError, match="Cannot list closed://open: Access Denied"):
            list_sources(["closed://open"])


class ClosedFileSystem(MemoryFileSystem):
    """File system with a folder that cannot be listed. It replaces a disk, because root can list all folders."""

    protocol = "closed"

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("closed://"))

    def ls(self, path, detail=True, **settings):
        if path.endswith("/closed"):
            raise PermissionError("Access Denied")
        return super().ls(path, detail=detail, **settings)


def test_stamp_changes_when_a_file_is_rewritten(corpus):
    path = corpus / "a.jsonl.gz"
    (before,) = list_sources([str(path)])
    assert list_sources([str(path)]) == [before]
    os.utime(path, (1, 1))
    assert list_sources([str(path)])[0].stamp != before.stamp


class TestWebServers:
    @pytest.fixture
    def web(self):
        with WebServer() as server:
            server.files["/deep/a.txt"] = b"text"
            yield server

    def test_file_with_a_query(self, web):
        (source,) = list_sources([f"{web.address}/deep/a.txt?part=1"])
        assert (source.format, source.size, source.uri) == ("text", 4, f"{web.address}/deep/a.txt?part=1")
        assert source.stamp

    def test_server_without_sizes_raises(self, web):
        web.sends_size = web.supports_ranges = False
        with pytest.raises(BitcipherError, match=r"does not report the size of .*a\.txt: download"):
            list_sources([f"{web.address}/deep/a.txt"])

    def test_missing_file_raises(self, web):
        with pytest.raises(BitcipherError, match="no such file"):
            list_sources([f"{web.address}/gone.txt?page=1"])

    def test_list_of_relative_names(self, web):
        web.files["/list.paths"] = b"deep/a.txt\n"
        assert [source.uri for source in list_sources([f"{web.address}/list.paths"])] == [f"{web.address}/deep/a.txt"]

    def test_list_with_a_query(self, web):
        web.files["/list.paths"] = b"deep/a.txt\n"
        (source,) = list_sources([f"{web.address}/list.paths?signature=1"])
        assert source.uri == f"{web.address}/deep/a.txt"

    @pytest.mark.parametrize(
        "line", ["/etc/passwd", "file:///etc/a.txt", "simplecache::FILE:///etc/a.txt", "hf:///etc"]
    )
    def test_list_cannot_name_files_of_this_machine(self, web, line):
        web.files["/list.paths"] = line.encode()
        with pytest.raises(BitcipherError, match=r"a file of this machine|neither a web address"):
            list_sources([f"{web.address}/list.paths"])

    def test_list_of_a_public_server_cannot_name_private_addresses(self, web, monkeypatch):
        monkeypatch.setattr(http_connection, "is_public", lambda address: address == "127.0.0.1")
        web.files["/list.paths"] = f"{web.address}/deep/a.txt\nhttp://169.254.169.254/a.txt".encode()
        with pytest.raises(BitcipherError, match="a private address"):
            list_sources([f"{web.address}/list.paths"])
