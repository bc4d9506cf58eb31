"""Options of document shards."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bitcipher.files.records import Metavar
from pipelines.clean.registry import Rules
from pipelines.duplicates.keys import fingerprint
from pipelines.duplicates.options import DuplicateOptions
from pipelines.ingest.content_hash import sha256
from pipelines.ingest.document_fields import USUAL_FIELDS, DetailFields
from pipelines.ingest.read_options import ReadOptions
from pipelines.runtime.memory_budget import MIN_MIB
from pipelines.store.fingerprint import Fingerprint

# Folder of the shipped recipes.
RECIPES = Path(__file__).parent.parent / "recipes" / "shard"

# Increase this number when a change of readers or stages changes the documents of a source.
SHARDS_VERSION = 2

# Libraries that determine text, language or decisions.
LIBRARIES = ("ftfy", "py3langid", "resiliparse", "pyarrow")

# Name of the digests of the files that rules read, which fingerprints of earlier versions do not have.
RULE_FILES = "rule_files"

# Options that affect neither the documents nor how they are divided into files.
_FREE = ("memory_mib", "keep_dropped")


class ShardOptions(ReadOptions):
    """Options of document shards: reading, cleaning rules and duplicates."""

    url_field: Annotated[str | None, Field(min_length=1), Metavar("TEXT")] = None
    """Field or column that holds the URL, such as meta.source; where public corpora have it if not given."""
    date_field: Annotated[str | None, Field(min_length=1), Metavar("TEXT")] = None
    """Field or column that holds the date; where public corpora have it if not given."""
    language_field: Annotated[str | None, Field(min_length=1), Metavar("TEXT")] = None
    """Field or column that holds the language; where public corpora have it if not given."""
    rules: Rules = ()
    """Cleaning rules, in the order in which they are applied."""
    duplicates: DuplicateOptions = DuplicateOptions(near=None)
    """Duplicates to find. By default, exact copies of documents are dropped."""
    shard_mib: int = Field(64, ge=1, le=1024)
    """MiB of text per document shard, before duplicates are dropped."""
    keep_dropped: bool = False
    """Write the dropped documents to `dropped/`, with their reasons."""
    memory_mib: int = Field(1500, ge=MIN_MIB)
    """MiB of memory per worker."""

    @property
    def detail_fields(self) -> DetailFields:
        """Fields of JSON lines, or columns of Parquet, that hold the URL, the date and the language."""
        given = (self.url_field, self.date_field, self.language_field)
        return DetailFields(*((path,) if path else usual for path, usual in zip(given, USUAL_FIELDS, strict=True)))

    def fingerprint(self) -> Fingerprint:
        """Return all values that determine the document shards of a source.

        Raises:
            BitcipherError: if a file that a rule reads is missing.
        """
        values = {name: value for name, value in self.redacted().to_dict().items() if name not in _FREE}
        flat: Fingerprint = {
            name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in values.items()
        }
        if paths := [path for rule in self.rules for path in rule.paths()]:
            flat[RULE_FILES] = json.dumps(list(map(sha256, paths)))
        return flat | fingerprint() | {name: version(name) for name in LIBRARIES} | {"shards_version": SHARDS_VERSION}
