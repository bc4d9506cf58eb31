"""Removal and renaming of files and folders: symbolic links, and names that are taken in the meantime."""

import os

import numpy as np
import pytest

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.vectors.cipher_vectors import CipherVectors


def write(uri, content=b"mine"):
    with storage.writing(uri) as stream:
        stream.write(content)


def test_links_are_neither_removed_nor_followed(tmp_path):
    write(str(tmp_path / "disk/file"))
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    for name in ("link", "link/"):
        storage.remove(f"{tmp_path}/{name}")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/link").symlink_to(tmp_path / "disk")
    storage.remove(str(tmp_path / "folder"))
    assert sorted(os.listdir(tmp_path)) == ["disk", "link"]
    assert (tmp_path / "disk/file").read_bytes() == b"mine"


def test_link_to_a_missing_file_exists(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "missing")
    assert storage.exists(str(tmp_path / "link"))


def test_new_file_or_folder_does_not_replace_one_that_appears(base_uri):
    target = storage.join(base_uri, "target")

    def write_file():
        with storage.writing_new(target) as stream:
            stream.write(b"new")
            write(target)

    def write_folder():
        with storage.writing_folder(target) as folder:
            write(storage.join(folder, "file"), b"new")
            write(storage.join(target, "mine"))

    for run, name in ((write_file, "target"), (write_folder, "target/mine")):
        with pytest.raises(BitcipherError, match="already exists"):
            run()
        assert storage.list_files(base_uri, unfinished=True) == {name: 4}
        storage.remove(target)


def test_temporary_folders_have_unique_names_and_are_removed(base_uri):
    uri = storage.join(base_uri, "target")
    with storage.temporary_folder(uri) as one, storage.temporary_folder(uri) as other:
        assert one != other
        write(storage.join(one, "file"))
    assert storage.list_files(base_uri) == {}


def test_overwriting_vectors_keeps_links(tmp_path):
    table = CipherVectors(["cat", "<oov>"], np.eye(2))
    table.save(tmp_path / "table")
    (tmp_path / "link").symlink_to(tmp_path / "table")
    with pytest.raises(BitcipherError, match="is a symbolic link"):
        table.save(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert len(CipherVectors.load(tmp_path / "link")) == 2
