import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
values = st.dictionaries(
    st.text(max_size=8).filter(lambda name: name != "checksum"),
    st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)),
    min_size=1,
    max_size=5,
)
VALUES = {"tokens": 1_234, "folder": "versions/000001-ab", "sha256": "ab", "مصادر": [{"uri": "a.txt", "size": 3}]}


@given(values)
def test_files_are_read_as_they_were_written(content):
    assert json_files.parse(json_files.to_checked_bytes(content), "a.json") == content
    assert json_files.parse(json_files.to_bytes(content), "a.json") == content


def test_last_field_is_the_digest_of_the_other_fields():
    stored = json.loads(json_files.to_checked_bytes(VALUES))
    assert list(stored)[-1] == "checksum"
    assert stored["checksum"] == hashlib.sha256(json_files.to_bytes(VALUES)).hexdigest()


def test_no_flipped_bit_and_no_cut_changes_a_value():
    content = json_files.to_checked_bytes(VALUES)
    changed = [content[:size] for size in range(len(content))]
    changed += [
        content[:i] + bytes([content[i] ^ 1 << bit]) + content[i + 1 :] for i in range(len(content)) for bit in range(8)
    ]
    noticed = 0
    for damaged in changed:
        try:
            read = json_files.parse(damaged, "a.json")
        except BitcipherError as error:
            assert "a.json" in str(error)  # noqa: PT017 - an error is one of two outcomes
            noticed += 1
        else:  # the name of the field `checksum` changed
            assert {name: value for name, value in read.items() if name in VALUES} == VALUES
            assert len(read) == len(VALUES) + 1
    assert noticed >= len(changed) - 8 * len("checksum")


def test_changed_and_reformatted_files_raise_a_sentence():
    stored = json.loads(json_files.to_checked_bytes(VALUES))
    for content in (json.dumps(stored | {"tokens": 1_235}, indent=2), json.dumps(stored)):
        with pytest.raises(BitcipherError, match=r"^a\.json is damaged, or was changed after it was written"):
            json_files.parse(content.encode(), "a.json")


def test_content_without_an_object_raises():
    for content in (b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"n": ' + b"1" * 5_000 + b"}"):
        with pytest.raises(BitcipherError, match="not a JSON object"):
            json_files.parse(content, "a.json")


def test_verify_notices_each_flipped_bit(tmp_path):
    path = tmp_path / "a.json"
    json_files.write(str(path), VALUES)
    json_files.verify(str(path))
    content = path.read_bytes()
    for position in range(8 * len(content)):
        changed = bytearray(content)
        changed[position // 8] ^= 1 << position % 8
        path.write_bytes(changed)
        with pytest.raises(BitcipherError, match=r"a\.json"):
            json_files.verify(str(path))
