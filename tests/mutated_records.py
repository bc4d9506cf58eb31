"""Mutations of stored records: a record that was changed is read back, or refused in one sentence."""

import json
from typing import Any

from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record

REMOVE = object()
REPLACEMENTS = st.sampled_from([REMOVE, None, -1, 0, 2.5, "", "x", True, [], [None], {}, {"x": 1}, "bitcipher-build/1"])


def assert_read_back_equal(record: Record) -> dict[str, Any]:
    """Assert that a record is read back equal from JSON; return its values."""
    values = json.loads(json.dumps(record.to_dict()))
    assert type(record).parse(values, "file.json") == record
    return values


def assert_mutation_is_read_or_refused(record: Record, data: st.DataObject) -> None:
    """Remove or replace a random value. Assert that the record is read, or that one sentence names the file."""
    values = assert_read_back_equal(record)
    *parents, last = data.draw(st.sampled_from(list(_paths_in(values))))
    parent = values
    for key in parents:
        parent = parent[key]
    replacement = data.draw(REPLACEMENTS)
    if replacement is REMOVE:
        del parent[last]
    else:
        parent[last] = replacement
    try:
        read = type(record).parse(values, "folder/file.json")
    except BitcipherError as error:
        message = str(error)
        assert message.startswith("folder/file.json: ")
        assert "\n" not in message
    else:
        assert type(record).parse(read.to_dict(), "again.json") == read


def _paths_in(value, path=()):
    """Yield the paths of all values inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _paths_in(item, (*path, key))
