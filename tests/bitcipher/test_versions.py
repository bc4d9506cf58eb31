import pytest

from bitcipher import BitcipherError, json_files, storage
from bitcipher.vectors import CipherVectors
from bitcipher.versions import manifest_uri, read_version, vectors_of, versions


@pytest.fixture
def build(base_uri):
    """A build with versions 2 and 10. An eleventh version is not published yet."""
    uri = storage.join(base_uri, "build")
    for version in (2, 10):
        json_files.write(manifest_uri(uri, version), {"version": version, "folder": f"versions/{version:06d}-ab"})
    for name in ("000011-cd/words.parquet", "000010-ab/000012.json", "notes.json", "000013.json.unfinished"):
        json_files.write(storage.join(uri, "versions", name), {"a": 1})
    return uri


def test_versions_are_the_published_manifests(build):
    assert versions(build) == [2, 10]
    assert manifest_uri(build, 2) == f"{build}/versions/000002.json"


def test_read_version_by_number_or_newest(build):
    assert read_version(build).version == 10
    assert read_version(build, 2).version == 2
    with pytest.raises(BitcipherError, match=r"has no version 3\. Its versions are 2, 10"):
        read_version(build, 3)


def test_folder_without_versions_is_not_a_build(base_uri):
    for uri in (base_uri, storage.join(base_uri, "nowhere")):
        assert versions(uri) == []
        with pytest.raises(BitcipherError, match="is not a build"):
            read_version(uri)


def test_vectors_of_a_version_or_a_folder(build, base_uri):
    assert vectors_of(build) == f"{build}/versions/000010-ab/vectors"
    assert vectors_of(build, 2) == f"{build}/versions/000002-ab/vectors"
    elsewhere = storage.join(base_uri, "vectors")
    assert vectors_of(elsewhere) == elsewhere
    with pytest.raises(BitcipherError, match="is not a build"):
        vectors_of(elsewhere, 2)  # a version number implies a build


def test_loading_a_build_loads_its_newest_vectors(build):
    for version, words in ((2, ["old"]), (10, ["new", "newer"])):
        CipherVectors(words, [[1.0, 2.0]] * len(words)).save(vectors_of(build, version))
    assert CipherVectors.load(build).index_to_key == ["new", "newer"]
    assert CipherVectors.load(vectors_of(build, 2)).index_to_key == ["old"]
