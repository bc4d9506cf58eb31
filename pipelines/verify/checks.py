"""Checks of the files of builds, vectors and document shards."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from bitcipher import storage
from bitcipher.counts import VocabularyFile, digest_segment, part_files
from bitcipher.errors import BitcipherError, first_line
from bitcipher.table import read_folder
from bitcipher.table.manifest import TableManifest
from pipelines.ingest.content_hash import sha256
from pipelines.verify.damage import Damage, error_of


@dataclass(frozen=True)
class SegmentCheck:
    """Check of the files of a segment: their digest is computed again."""

    parts: tuple[str, ...]
    """URIs of the parts."""
    total_passages: int
    digest: str
    """Digest of the counts in the manifest or the ledger."""
    advice: str
    size: int

    def find_damage(self) -> list[Damage]:
        """Return the damaged files. If all can be read, but their digest is another, return one entry for all."""
        error = error_of(self._check_digest)
        if error is None:
            return []
        files = [file for part in self.parts for file in part_files(part)]
        sentences = [sentence for file in files if (sentence := error_of(_read_parquet, file))]
        return [Damage(sentence, self.advice) for sentence in sentences or [error]]

    def _check_digest(self) -> None:
        if digest_segment(self.parts, self.total_passages).hex() != self.digest:
            raise BitcipherError(
                f"The counts in {', '.join(self.parts)} are damaged: their digest differs from that of the manifest."
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
    """SHA-256 of the file of vectors in the manifest of a build, or None."""

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
        file = storage.join(self.folder, "vectors.safetensors")
        if self.sha256 not in (None, sha256(file)):
            raise BitcipherError(f"{file} belongs to another version: its SHA-256 differs from the manifest's.")


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
