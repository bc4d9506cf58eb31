"""Checks of the files of builds, vectors and document shards."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from bitcipher.counts.segment import part_files, read_pair_hashes
from bitcipher.counts.segment_digest import digest_segment
from bitcipher.counts.vocabulary_file import VocabularyFile
from bitcipher.errors import BitcipherError, first_line
from bitcipher.files import storage
from bitcipher.rows.context_vectors import ContextVectors
from bitcipher.table.manifest import TableManifest
from bitcipher.table.vector_files import vectors_digest
from bitcipher.table.vector_folder import read_folder
from pipelines.ingest.content_hash import sha256
from pipelines.verify.damage import Damage, error_of


@dataclass(frozen=True)
class PartCheck:
    """Check of the three files of a part by their SHA-256."""

    part: str
    """URI of the part."""
    sha256: str
    """SHA-256 of the file of words, which has those of the other two files."""
    advice: str
    size: int

    def find_damage(self) -> list[Damage]:
        """Return the damaged files."""
        words, *others = part_files(self.part)
        damage = HashCheck(words, self.sha256, self.advice, 0).find_damage()
        if damage:  # the digests in the file cannot be trusted
            return damage + [each for file in others for each in ParquetCheck(file, self.advice, 0).find_damage()]
        checks = [HashCheck(*each, self.advice, 0) for each in zip(others, read_pair_hashes(self.part), strict=True)]
        return [each for check in checks for each in check.find_damage()]


@dataclass(frozen=True)
class SegmentCheck:
    """Check of the files of a segment: their SHA-256, and the digest of their counts, which is computed again."""

    parts: tuple[PartCheck, ...]
    total_passages: int
    digest: str
    """Digest of the counts in the manifest or the ledger."""
    advice: str
    size: int

    def find_damage(self) -> list[Damage]:
        """Return the damaged files. If none is damaged, but their digest is another, return one entry for all."""
        damage = [each for part in self.parts for each in part.find_damage()]
        error = None if damage else error_of(self._check_digest)
        return [*damage, *([Damage(error, self.advice)] if error else [])]

    def _check_digest(self) -> None:
        parts = [check.part for check in self.parts]
        if digest_segment(parts, self.total_passages).hex() != self.digest:
            raise BitcipherError(
                f"The counts in {', '.join(parts)} are damaged: their digest differs from that of the manifest."
            )


@dataclass(frozen=True)
class VocabularyCheck:
    """Check of the vocabulary of a version."""

    file: VocabularyFile
    advice: str
    size: int

    def find_damage(self) -> list[Damage]:
        """Return the file if it is damaged."""
        sentence = error_of(self.file.table)
        return [Damage(sentence, self.advice)] if sentence else []


@dataclass(frozen=True)
class VectorsCheck:
    """Check of a folder of vectors."""

    folder: str
    advice: str
    size: int
    sha256: str | None = None
    """Digest of the vectors in the manifest of a build, or None."""

    def find_damage(self) -> list[Damage]:
        """Return the damaged files. If none has another SHA-256, but they cannot be read, return one entry for all."""
        error = error_of(self._check)
        if error is None:
            return []
        try:
            files = TableManifest.read(self.folder).files
        except BitcipherError:
            return [Damage(error, self.advice)]
        checks = [
            HashCheck(storage.join(self.folder, name), entry.sha256, self.advice, 0) for name, entry in files.items()
        ]
        return [damage for check in checks for damage in check.find_damage()] or [Damage(error, self.advice)]

    def _check(self) -> None:
        read_folder(self.folder, verify=True)
        ContextVectors.read(self.folder)
        digest = vectors_digest(TableManifest.read(self.folder).files)
        if self.sha256 not in (None, digest):
            raise BitcipherError(
                f"The vectors in {self.folder} belong to another version: their SHA-256 differs from the manifest's."
            )


@dataclass(frozen=True)
class HashCheck:
    """Check of a file whose SHA-256, or the beginning of it, is known."""

    uri: str
    sha256: str
    advice: str
    size: int

    def find_damage(self) -> list[Damage]:
        """Return the file if it is missing or damaged."""
        sentence = error_of(self._check)
        return [Damage(sentence, self.advice)] if sentence else []

    def _check(self) -> None:
        if not sha256(self.uri).startswith(self.sha256):
            raise BitcipherError(f"{self.uri} is damaged: its SHA-256 differs from that of the manifest.")


@dataclass(frozen=True)
class ParquetCheck:
    """Check of a Parquet file by the checksums of its pages."""

    uri: str
    advice: str
    size: int

    def find_damage(self) -> list[Damage]:
        """Return the file if it is missing or damaged."""
        sentence = error_of(_read_parquet, self.uri)
        return [Damage(sentence, self.advice)] if sentence else []


def _read_parquet(uri: str) -> None:
    """Read all row groups of a file, one at a time."""
    try:
        with storage.reading(uri) as stream, pq.ParquetFile(stream, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                file.read_row_group(group, use_threads=False)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise BitcipherError(f"{uri} is damaged ({first_line(error)}).") from None
