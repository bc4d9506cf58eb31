import pytest

from bitcipher.errors import BitcipherError
from bitcipher.yaml_files import read_yaml


@pytest.mark.parametrize("content", [b"a: [1", b"\xff", b"[" * 5_000], ids=["open list", "not UTF-8", "deep nesting"])
def test_damaged_yaml_raises(tmp_path, content):
    (tmp_path / "a.yaml").write_bytes(content)
    with pytest.raises(BitcipherError, match=r"a\.yaml is not valid YAML"):
        read_yaml(str(tmp_path / "a.yaml"))
