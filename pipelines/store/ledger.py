"""Ledger of finished work: one small file per entry, created once and never changed."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from bitcipher import storage
from bitcipher.records import Record

ENDING = ".json"

Entry = TypeVar("Entry", bound=Record)


@dataclass(frozen=True)
class EntryKind(Generic[Entry]):
    """A kind of ledger entries."""

    name: str
    """Folder of the entries in the ledger."""
    record: type[Entry]
    """Class of the entries."""


class Ledger:
    """Entries of finished work, by kind and key, in a folder.

    The object stores only the URI of the folder, so it can be sent to workers. Each call reads from storage.

    Args:
        uri: folder of the ledger. It is created with the first entry.

    Examples:
        >>> class Done(Record):
        ...     worker: str
        >>> done = EntryKind("done", Done)
        >>> ledger = Ledger("memory://doctest/ledger")
        >>> ledger.record(done, "3fa9-000", Done(worker="a"))
        Done(worker='a')
        >>> ledger.record(done, "3fa9-000", Done(worker="b"))  # a late worker gets the entry of the first
        Done(worker='a')
        >>> ledger.clear()
    """

    def __init__(self, uri: str):
        self.uri = uri

    def find(self, kind: EntryKind[Entry], key: str) -> Entry | None:
        """Return the entry of a key, or None if the key has no entry. Takes one request to the store.

        Raises:
            BitcipherError: if the entry is damaged, or cannot be read.
        """
        uri = self._uri(kind, key)
        content = storage.read_bytes(uri)
        return None if content is None else kind.record.parse(storage.from_json(content, uri), uri)

    def record(self, kind: EntryKind[Entry], key: str, entry: Entry) -> Entry:
        """Create an entry, unless the key has one. A new entry takes one request to the store.

        Args:
            kind: the kind of the entry.
            key: letters, digits, "-", and "/" between parts.
            entry: the entry.

        Returns:
            The stored entry. If it differs from the given entry, another worker was first, and the files of the given
            entry are not needed.

        Raises:
            BitcipherError: if the entry cannot be written, or the stored entry is damaged.
        """
        uri = self._uri(kind, key)
        if storage.create(uri, storage.to_json(entry.to_dict())):
            return entry
        return kind.record.read(uri)

    def keys(self, kind: EntryKind[Entry]) -> list[str]:
        """Return the keys of a kind, sorted."""
        names = storage.list_files(storage.join(self.uri, kind.name))
        return sorted(name.removesuffix(ENDING) for name in names if name.endswith(ENDING))

    def entries(self, kind: EntryKind[Entry]) -> dict[str, Entry]:
        """Return all entries of a kind by key, sorted by key.

        Raises:
            BitcipherError: if an entry is damaged, or cannot be read.
        """
        keys = self.keys(kind)
        uris = [self._uri(kind, key) for key in keys]
        contents = storage.read_many(uris)
        return {
            key: kind.record.parse(storage.from_json(content, uri), uri)
            for key, uri, content in zip(keys, uris, contents, strict=True)
            if content is not None  # removed since it was listed
        }

    def clear(self) -> None:
        """Remove all entries."""
        storage.remove(self.uri)

    def _uri(self, kind: EntryKind[Entry], key: str) -> str:
        return storage.join(self.uri, kind.name, key + ENDING)
