"""What is done, one small file an entry: whoever writes an entry first has it, and nobody changes it."""

from typing import Any

from bitcipher import storage

ENDING = ".json"


class Ledger:
    """The entries below a folder, by keys such as "count/3fa9-000".

    It holds only the folder's URI, so that it goes to any worker, and asks the store anew each time.

    Args:
        uri: the ledger's folder, which need not exist yet.

    Examples:
        >>> ledger = Ledger("memory://doctest/ledger")
        >>> ledger.record("count/3fa9-000", {"segment": "3fa9-000-a1"})
        {'segment': '3fa9-000-a1'}
        >>> ledger.record("count/3fa9-000", {"segment": "3fa9-000-b2"})  # by a worker that comes back late
        {'segment': '3fa9-000-a1'}
        >>> ledger.clear()
    """

    def __init__(self, uri: str):
        self.uri = uri

    def find(self, key: str) -> dict[str, Any] | None:
        """The entry of a key, or None: one request.

        Raises:
            BitcipherError: if the entry is damaged, or cannot be read.
        """
        content = storage.read_bytes(self._file(key))
        return None if content is None else storage.from_json(content, self._file(key))

    def record(self, key: str, entry: dict[str, Any]) -> dict[str, Any]:
        """Enter what is done, unless the key has an entry: one request where it has none.

        Args:
            key: letters, digits, "-", and "/" between parts.
            entry: what JSON can hold.

        Returns:
            The entry that stands. If it is not the one given, another was first, and what this one names is to be
            dropped.

        Raises:
            BitcipherError: if the entry cannot be written, or the one that stands is damaged.
        """
        if storage.create(self._file(key), storage.to_json(entry)):
            return entry
        return storage.read_json(self._file(key))

    def entries(self, prefix: str = "") -> dict[str, dict[str, Any]]:
        """All entries whose keys begin with the prefix, in the order of their keys.

        Raises:
            BitcipherError: if one is damaged, or cannot be read.
        """
        part = prefix.rpartition("/")[0]
        folder = storage.join(self.uri, part) if part else self.uri
        names = [f"{part}/{name}" if part else name for name in storage.list_files(folder) if name.endswith(ENDING)]
        keys = sorted(key for name in names if (key := name.removesuffix(ENDING)).startswith(prefix))
        contents = storage.read_many([self._file(key) for key in keys])
        return {
            key: storage.from_json(content, self._file(key))
            for key, content in zip(keys, contents, strict=True)
            if content is not None  # removed since it was listed
        }

    def clear(self) -> None:
        """Remove all entries."""
        storage.remove(self.uri)

    def _file(self, key: str) -> str:
        return storage.join(self.uri, key + ENDING)
