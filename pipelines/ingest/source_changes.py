"""Difference between the listed sources and those already counted."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from fsspec.utils import glob_translate

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.storage import url_to_fs
from bitcipher.redaction import redact
from pipelines.ingest.dataset_folder import split_pattern
from pipelines.ingest.hf_datasets import is_dataset, parse_uri
from pipelines.ingest.sources import Source, list_again


@dataclass
class SourceChanges:
    """Difference between the listed sources and those already counted."""

    new: list[Source] = field(default_factory=list)
    """Sources with content that is not yet counted. Of several sources with the same content, only the first is new."""
    unchanged: list[Source] = field(default_factory=list)
    """Sources whose content was already counted under the same URI."""
    copies: list[Source] = field(default_factory=list)
    """Sources whose content was already counted under another URI, or equals that of a preceding new source."""
    changed: list[Source] = field(default_factory=list)
    """Sources whose content differs from the content that was counted under their URI."""
    vanished: list[Source] = field(default_factory=list)
    """Counted sources that match a pattern, but no longer exist under any name."""

    def removed_content(self, known: Sequence[Source]) -> set[str]:
        """Return the hashes of counted content that no source contains any longer.

        Args:
            known: the sources already counted.
        """
        lost = {source.uri for source in (*self.changed, *self.vanished)}
        listed = (*self.new, *self.unchanged, *self.copies, *self.changed)
        present = {source.sha256 for source in listed} | {source.sha256 for source in known if source.uri not in lost}
        return {source.sha256 for source in known if source.uri in lost} - present


def compare_sources(listed: Sequence[Source], known: Sequence[Source], patterns: Sequence[str]) -> SourceChanges:
    """Compare the listed sources with those already counted.

    Args:
        listed: the sources that match the patterns, with hashes.
        known: the sources already counted.
        patterns: files, folders or globs. A counted source that matches a pattern and is not listed has vanished.
    """
    changes = SourceChanges()
    hash_of = {source.uri: source.sha256 for source in known}
    counted = set(hash_of.values())
    seen: set[str] = set()
    for source in listed:
        if source.uri in hash_of:
            is_same = hash_of[source.uri] == source.sha256
            (changes.unchanged if is_same else changes.changed).append(source)
        elif source.sha256 in counted or source.sha256 in seen:
            changes.copies.append(source)
        else:
            changes.new.append(source)
            seen.add(source.sha256)
    uris = {source.uri for source in listed}
    hashes = {source.sha256 for source in listed}
    matches = _matcher(patterns)
    changes.vanished = [
        source for source in known if source.uri not in uris and source.sha256 not in hashes and matches(source.uri)
    ]
    return changes


def check_unchanged(sources: Iterable[Source]) -> None:
    """Check that sources have not changed since they were listed.

    Sources with block hashes are not listed again, which would take a request per source: what was read of them is
    what was hashed.

    Raises:
        BitcipherError: if the size or the stamp of a source differs.
    """
    for source in sources:
        if source.block_hashes:
            continue
        current = list_again(source)
        if (current.size, current.stamp) != (source.size, source.stamp):
            raise BitcipherError(
                f"{source.uri} changed while it was read. When it is complete, run the same command again to resume."
            )


def check_given(to_read: Sequence[Source], listed: Sequence[Source]) -> None:
    """Check that the user gave all sources that are read from the network.

    Args:
        to_read: sources to read, some of which an earlier version has recorded.
        listed: the sources that the user gave.

    Raises:
        BitcipherError: if a recorded source is not among the given ones, and is not on a disk.
    """
    given = {source.sha256 for source in listed}
    for source in to_read:
        if source.sha256 not in given and storage.local_path(source.read_uri) is None:
            raise BitcipherError(
                f"{source.uri} must be read, and nothing is read from the network because a stored file names it: "
                "give it as a source."
            )


def _matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that says whether a URI matches one of the patterns, as a glob, in its folder, or as a split.

    The time does not grow with the number of patterns without wildcards, of which a shell can give thousands.
    """
    splits = [parse_uri(pattern)._asdict() for pattern in patterns if is_dataset(pattern)]
    given = [{name: value for name, value in split.items() if value}.items() for split in splits]
    paths = {_path(pattern) for pattern in patterns if not is_dataset(pattern)}
    globs = [re.compile(glob_translate(path), re.DOTALL) for path in sorted(paths) if re.search(r"[*?[]", path)]

    def matches(uri: str) -> bool:
        if is_dataset(uri):
            values = parse_uri(uri)._asdict().items()
            return any(each <= values for each in given)
        path = url_to_fs(uri)[1]
        folders = accumulate(path.split("/"), "{}/{}".format)
        return not paths.isdisjoint(folders) or any(each.fullmatch(path) for each in globs)

    return matches


def _path(pattern: str) -> str:
    folder, split = split_pattern(redact(pattern))
    return "/".join([url_to_fs(folder)[1].rstrip("/"), *filter(None, [split])])
