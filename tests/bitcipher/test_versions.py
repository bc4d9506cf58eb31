import pytest

from bitcipher import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.versions import manifest_uri, read_version, vectors_of, versions


def write_manifest(uri, version, made_by):
    """Write the manifest of a version with the vectors of the version `made_by`."""
    vectors = {"version": made_by, "folder": f"versions/{made_by:06d}-ab/vectors"} if made_by else None
    values = {"version": version, "folder": f"versions/{version:06d}-ab", "vectors_from": vectors}
    json_files.write(manifest_uri(uri, version), values)


@pytest.fixture
def build(base_uri):
    """A build with versions 2 and 10. An eleventh version is not published yet."""
    uri = storage.join(base_uri, "build")
    for version in (2, 10):
        write_manifest(uri, version, version)
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
    storage.write_bytes(storage.join(base_uri, "folder", "notes.txt"), b"")
    for name, problem in (("folder", "is not a build"), ("nowhere", "There is no build")):
        uri = storage.join(base_uri, name)
        assert versions(uri) == []
        with pytest.raises(BitcipherError, match=problem):
            read_version(uri)


def test_vectors_of_a_version_or_a_folder(build, base_uri):
    assert vectors_of(build) == f"{build}/versions/000010-ab/vectors"
    assert vectors_of(build, 2) == f"{build}/versions/000002-ab/vectors"
    elsewhere = storage.join(base_uri, "vectors")
    assert vectors_of(elsewhere) == elsewhere
    with pytest.raises(BitcipherError, match="There is no build"):
        vectors_of(elsewhere, 2)  # a version number implies a build


def test_version_without_vectors_of_its_own_has_those_of_an_earlier_version(build):
    write_manifest(build, 11, made_by=2)
    assert vectors_of(build) == vectors_of(build, 2)
    assert [read_version(build, version).has_own_vectors for version in (2, 10, 11)] == [True, True, False]


def test_build_without_vectors_raises(base_uri):
    uri = storage.join(base_uri, "build")
    write_manifest(uri, 1, made_by=None)
    with pytest.raises(BitcipherError, match=r"version 1, has counts but no vectors: .* --vectors now`\.$"):
        CipherVectors.load(uri)


def test_loading_a_build_loads_its_newest_vectors(build):
    for version, words in ((2, ["old"]), (10, ["new", "newer"])):
        CipherVectors(words, [[1.0, 2.0]] * len(words)).save(vectors_of(build, version))
    assert CipherVectors.load(build).index_to_key == ["new", "newer"]
    assert CipherVectors.load(vectors_of(build, 2)).index_to_key == ["old"]


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/build", "HTTPS://user:word@host/build"])
def test_folders_on_web_servers_are_refused(address):
    with pytest.raises(BitcipherError, match="web servers do not list the files of a folder: copy the folder first"):
        versions(address)
