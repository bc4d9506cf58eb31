"""Publishing versions, and removing what no version needs any more."""

from typing import Any

from bitcipher import storage
from bitcipher.counts import part_files
from bitcipher.errors import BitcipherError
from bitcipher.versions import VERSIONS, manifest_uri, versions
from pipelines.store import layout
from pipelines.store.lease import Lease
from pipelines.store.ledger import Ledger


def publish(build: str, manifest: dict[str, Any], lease: Lease) -> None:
    """Publish a version, by the one step that makes it visible: its manifest is created.

    Raises:
        BitcipherError: if the job lost its lease, or a version of this number is there already.
    """
    lease.check()
    uri = manifest_uri(build, manifest["version"])
    if not storage.create(uri, storage.to_json(manifest)):
        raise BitcipherError(
            f"Version {manifest['version']} of {build} was published by another job meanwhile; this one's result is "
            "dropped. Run the same command again: what is counted need not be counted again."
        )


def prune(build: str, keep: int) -> list[int]:
    """Remove all but the newest versions; returns the numbers of those that are gone.

    Args:
        build: the folder of the build.
        keep: how many versions stay, 1 or more.

    Raises:
        BitcipherError: if it is no build, another job is at work on it, or nothing would be left.
    """
    if keep < 1:
        raise BitcipherError(f"At least 1 version must be kept, not {keep}; remove the folder to remove them all.")
    layout.read_manifest(build)
    with Lease(build):
        gone = versions(build)[:-keep]
        for version in gone:
            storage.remove(manifest_uri(build, version))
        collect_garbage(build)
    return gone


def drop_unfinished(build: str) -> int:
    """Remove what a job that was stopped left behind; returns how many shards it had counted.

    Raises:
        BitcipherError: if there is nothing at all, or another job is at work on the build.
    """
    if not storage.list_files(build):
        raise BitcipherError(f"There is no build {build}, and no job was making one there.")
    ledger = Ledger(storage.join(build, layout.LEDGER))
    with Lease(build):
        shards = sum("parts" in entry for entry in ledger.entries().values())
        ledger.clear()
        collect_garbage(build, unpublished=True)
    return shards


def collect_garbage(build: str, *, unpublished: bool = False) -> None:
    """Remove files that neither a version nor an unfinished job refers to: the lease must be held.

    A job that slept can publish its version as long as no other has that number, so what it made of it stays.

    Args:
        build: the folder of the build.
        unpublished: remove what was made of such versions too.
    """
    # Listed before it is asked what is needed: what comes meanwhile is not touched.
    counts = [
        storage.join(name, file)
        for name in (layout.SHARDS, layout.SEGMENTS)
        for file in storage.list_files(storage.join(build, name), unfinished=True)
    ]
    made = {file.split("/")[0] for file in storage.list_files(storage.join(build, VERSIONS), unfinished=True)}
    manifests = [layout.read_manifest(build, version) for version in versions(build)]
    parts = {
        part for manifest in manifests for kind in ("segments", "shards") for s in manifest[kind] for part in s["parts"]
    }
    for entry in Ledger(storage.join(build, layout.LEDGER)).entries().values():
        parts.update(entry.get("parts", []))
        parts.update([entry["part"]] if "part" in entry else [])
    needed = {file for part in parts for file in part_files(part)}
    for file in counts:
        if file not in needed:
            storage.remove(storage.join(build, file))
    newest = max((manifest["version"] for manifest in manifests), default=0)
    needed = {manifest["folder"] for manifest in manifests} | {f"{VERSIONS}/{m['version']:06d}.json" for m in manifests}
    for name in sorted(made):
        if storage.join(VERSIONS, name) not in needed and (unpublished or name[:6] <= f"{newest:06d}"):
            storage.remove(storage.join(build, VERSIONS, name))
    storage.remove(storage.join(build, layout.WORK))
