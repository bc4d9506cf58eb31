"""File systems and names that cannot be used: one sentence, whatever the constructor of the file system raises."""

import pytest
from fsspec.registry import known_implementations

from bitcipher.errors import BitcipherError
from bitcipher.files import storage


@pytest.mark.filterwarnings("ignore")  # of fsspec, about a deprecated protocol and unfinished objects
def test_file_systems_that_cannot_be_opened_raise_one_sentence(monkeypatch, tmp_path):
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):  # the constructor of gist:// sends a request
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    failed: dict[str, str] = {}
    for protocol in sorted(known_implementations):
        for rest in ("", "/a.txt", "127.0.0.1:9/a.txt", f"a.txt::{tmp_path}/missing.zip", "me:word@127.0.0.1:x/a"):
            uri = f"{protocol}://{rest}"
            try:
                storage.url_to_fs(uri)
            except BitcipherError as error:
                failed[protocol] = str(error)
    assert "\n" not in "".join(failed.values())
    assert failed.keys() >= {
        "ftp",
        "github",
        "gist",
        "webhdfs",
        "jupyter",
        "reference",
        "dbfs",
        "zip",
        "tar",
        "sftp",
        "smb",
    }
    with pytest.raises(BitcipherError, match="Cannot reach ftp://: its protocol needs 'host'"):
        storage.url_to_fs("ftp://")


def test_name_that_is_not_utf8_raises():
    with pytest.raises(BitcipherError, match=r"The name caf\\udce9\.txt is not UTF-8"):
        storage.exists("caf\udce9.txt")
