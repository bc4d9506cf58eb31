import pytest

from bitcipher.errors import BitcipherError
from bitcipher.files.yaml_files import read_yaml


@pytest.mark.parametrize("content", [b"a: [1", b"\xff", b"[" * 5_000], ids=["open list", "not UTF-8", "deep nesting"])
def test_damaged_yaml_raises(tmp_path, content):
    (tmp_path / "a.yaml").write_bytes(content)
    with pytest.raises(BitcipherError, match=r"a\.yaml is not valid YAML"):
        read_yaml(str(tmp_path / "a.yaml"))


def test_aliases_are_refused(tmp_path):
    """Each line has ten times the values of the preceding one."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    (tmp_path / "a.yaml").write_text("\n".join(lines))
    with pytest.raises(
        BitcipherError, match=r"a\.yaml is not valid YAML: the alias \*a0 .* line 2, column 10"
    ) as error:
        read_yaml(str(tmp_path / "a.yaml"))
    assert len(str(error.value)) < 1_000


@pytest.mark.parametrize("value", ["9" * 5_000, "2020-02-31", "[" * 5_000])
def test_values_that_python_cannot_hold_raise(tmp_path, value):
    (tmp_path / "a.yaml").write_text(f"a: {value}")
    with pytest.raises(BitcipherError, match=r"a\.yaml is not valid YAML"):
        read_yaml(str(tmp_path / "a.yaml"))
