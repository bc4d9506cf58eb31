"""Ledger of finished work: one small file per entry, created once and never changed.

After a power cut, a file system can keep the name of a file without its content. An entry that is not a complete JSON
object therefore counts as not written. Workers cannot replace it, because two of them could each find it and write an
entry of their own. The job that has the right to write removes it before its workers start (`remove_incomplete`).
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.records import Record

ENDING = ".json"

Entry = TypeVar("Entry", bound=Record)


@dataclass(frozen=True)
class EntryKind(Generic[Entry]):
    """A kind of ledger entries."""

    name: str
    """Folder of the entries in the ledger."""
    record: type[Entry]
    """Class of the entries."""
    advice: str = ""
    """What the user can do about an entry of another version of bitcipher: a sentence, the end of the error message."""


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
        """Return the entry of a key, or None if the key has no complete entry. Takes one request to the store.

        Raises:
            BitcipherError: if the entry is of another version of bitcipher, or cannot be read.
        """
        uri = self.entry_uri(kind, key)
        return _parse(kind, storage.read_bytes(uri), uri)

    def check(self, kind: EntryKind[Entry], key: str) -> None:
        """Check an entry.

        Raises:
            BitcipherError: if the entry is missing, incomplete, damaged, or of another version of bitcipher.
        """
        uri = self.entry_uri(kind, key)
        kind.record.parse(json_files.read(uri), uri)

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
            BitcipherError: if the entry cannot be written, or the stored entry is incomplete.
        """
        uri = self.entry_uri(kind, key)
        if storage.create(uri, json_files.to_checked_bytes(entry.to_dict())):
            return entry
        stored = _parse(kind, storage.read_bytes(uri), uri)
        if stored is None:
            raise BitcipherError(f"{uri} is incomplete: run the same command again, which writes it anew.")
        return stored

    def keys(self, kind: EntryKind[Entry]) -> list[str]:
        """Return the keys of a kind, sorted. Entries that are not complete have keys, too."""
        names = storage.list_files(storage.join(self.uri, kind.name))
        return sorted(name.removesuffix(ENDING) for name in names if name.endswith(ENDING))

    def entries(self, kind: EntryKind[Entry]) -> dict[str, Entry]:
        """Return all complete entries of a kind by key, sorted by key.

        Raises:
            BitcipherError: if an entry is of another version of bitcipher, or cannot be read.
        """
        keys = self.keys(kind)
        uris = [self.entry_uri(kind, key) for key in keys]
        contents = storage.read_many(uris)
        entries = (_parse(kind, content, uri) for content, uri in zip(contents, uris, strict=True))
        return {key: entry for key, entry in zip(keys, entries, strict=True) if entry is not None}

    def remove_incomplete(self, *kinds: EntryKind[Any]) -> None:
        """Remove the entries of some kinds that are not complete. Only one job at a time may call it."""
        for kind in kinds:
            complete = self.entries(kind)
            for key in self.keys(kind):
                if key not in complete and self.find(kind, key) is None:  # not written since it was listed
                    storage.remove(self.entry_uri(kind, key))

    def clear(self) -> None:
        """Remove all entries."""
        storage.remove(self.uri)

    def entry_uri(self, kind: EntryKind[Entry], key: str) -> str:
        """Return the URI of the file of an entry."""
        return storage.join(self.uri, kind.name, key + ENDING)


def _parse(kind: EntryKind[Entry], content: bytes | None, uri: str) -> Entry | None:
    """Return the entry in the content of a file, or None if the file does not exist or is incomplete."""
    if content is None:
        return None
    try:
        values = json_files.parse(content, uri)
    except BitcipherError:
        return None
    try:
        return kind.record.parse(values, uri)
    except BitcipherError as error:
        raise BitcipherError(f"{error} {kind.advice}".rstrip()) from None
