"""Options of document shards, and the recipes that come with bitcipher."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import Field

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.clean import Rules
from pipelines.duplicates.keys import fingerprint
from pipelines.duplicates.options import DuplicateOptions
from pipelines.ingest.read_options import ReadOptions
from pipelines.runtime.memory_budget import MIN_MIB
from pipelines.store.fingerprint import Fingerprint

RECIPES = Path(__file__).parent.parent / "recipes" / "shard"

# Increase this number when a change of readers or stages changes the documents of a source.
SHARDS_VERSION = 1

# Libraries that determine text, language or decisions.
LIBRARIES = ("ftfy", "py3langid", "resiliparse", "pyarrow")

# Options that affect neither the documents nor how they are divided into files.
_FREE = ("memory_mib", "keep_dropped")


class ShardOptions(ReadOptions):
    """Options of document shards: reading, cleaning rules and duplicates."""

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

    def fingerprint(self) -> Fingerprint:
        """Return all values that determine the document shards of a source."""
        values = {name: value for name, value in self.to_dict().items() if name not in _FREE}
        flat: Fingerprint = {
            name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in values.items()
        }
        return flat | fingerprint() | {name: version(name) for name in LIBRARIES} | {"shards_version": SHARDS_VERSION}


def read_recipe(name: str) -> tuple[dict[str, Any], list[str]]:
    """Return the options of a recipe, and its sources.

    Args:
        name: path or URI of a YAML file, or the name of a recipe that comes with bitcipher.

    Raises:
        BitcipherError: if there is no such recipe, or it is invalid.
    """
    names = sorted(path.stem for path in RECIPES.glob("*.yaml"))
    if name not in names and not storage.exists(name):
        raise BitcipherError(f"There is no recipe {name!r}: give a YAML file, or one of {', '.join(names)}.")
    uri = str(RECIPES / f"{name}.yaml") if name in names else name
    values = storage.read_yaml(uri)
    sources = values.pop("sources", [])
    if not isinstance(sources, list) or not all(isinstance(source, str) for source in sources):
        raise BitcipherError(f"{uri}: `sources` must be a list of paths or URIs, got {sources!r}.")
    ShardOptions.parse(values, uri)
    return values, sources
