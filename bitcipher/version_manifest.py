"""The part of a version's manifest that the library reads."""

from pydantic import ConfigDict, Field

from bitcipher.records import Record


class VersionManifest(Record):
    """Fields of a version's manifest that say where the version is stored.

    A manifest has more fields, which `pipelines.store.manifest` describes and validates.
    """

    # Without `extra="ignore"`, the other fields of a manifest would be errors.
    model_config = ConfigDict(extra="ignore")

    version: int = Field(ge=1)
    """Number of the version."""
    folder: str
    """Folder of the version's files, relative to the build."""
