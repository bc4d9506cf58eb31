"""What became of a corpus since it was counted: which files are new, the same, changed, or gone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fsspec.utils import glob_translate

from bitcipher.storage import url_to_fs
from pipelines.ingest.sources import Source


@dataclass
class SourceChanges:
    """A listing beside what was counted before."""

    new: list[Source] = field(default_factory=list)
    """Content that was never counted, each once."""
    same: list[Source] = field(default_factory=list)
    """Counted before, under this name."""
    copies: list[Source] = field(default_factory=list)
    """Counted before under another name, or listed twice."""
    changed: list[Source] = field(default_factory=list)
    """Another content than was counted under this name."""
    vanished: list[Source] = field(default_factory=list)
    """Counted before, and no longer where the sources were looked for."""

    def gone(self, known: Sequence[Source]) -> set[str]:
        """The digests of counted content that is in no file any more.

        Args:
            known: the sources as they were counted.
        """
        lost = {source.uri for source in (*self.changed, *self.vanished)}
        listed = (*self.new, *self.same, *self.copies, *self.changed)
        still = {source.sha256 for source in listed} | {source.sha256 for source in known if source.uri not in lost}
        return {source.sha256 for source in known if source.uri in lost} - still


def compare(listing: Sequence[Source], known: Sequence[Source], patterns: Sequence[str]) -> SourceChanges:
    """Sort a listing by what is known of its files.

    Args:
        listing: what the patterns find now, with digests.
        known: what was counted.
        patterns: files, folders or globs; what they would have found and did not has vanished.
    """
    changes = SourceChanges()
    counted_as = {source.uri: source.sha256 for source in known}
    counted = set(counted_as.values())
    seen: set[str] = set()
    for source in listing:
        if source.uri in counted_as:
            is_same = counted_as[source.uri] == source.sha256
            (changes.same if is_same else changes.changed).append(source)
        elif source.sha256 in counted or source.sha256 in seen:
            changes.copies.append(source)
        else:
            changes.new.append(source)
            seen.add(source.sha256)
    listed = {source.uri for source in listing}
    contents = {source.sha256 for source in listing}
    covers = [_covering(pattern) for pattern in patterns]
    changes.vanished = [
        source
        for source in known
        if source.uri not in listed
        and source.sha256 not in contents
        and any(cover.fullmatch(url_to_fs(source.uri)[1]) for cover in covers)
    ]
    return changes


def _covering(pattern: str) -> re.Pattern[str]:
    """What paths a pattern stands for: itself, all below it, or all that it matches as a glob."""
    path = url_to_fs(pattern)[1].rstrip("/")
    return re.compile(f"{re.escape(path)}(/.*)?|{glob_translate(path)}", re.DOTALL)
