"""`verify`: the checks of a folder, run on workers."""

from collections.abc import Callable
from dataclasses import dataclass

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.sizes import format_size
from bitcipher.table.manifest import MANIFEST
from bitcipher.versions import versions
from pipelines.ingest.document_folder import newest_manifest
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime, StageSpec
from pipelines.verify.build_checks import build_checks
from pipelines.verify.checks import VectorsCheck
from pipelines.verify.damage import Check, Damage, VerifyStage
from pipelines.verify.document_checks import document_checks


@dataclass(frozen=True)
class VerifyResult:
    """Result of a verification."""

    kind: str
    """What the folder holds."""
    size: int
    """Number of bytes that were read."""
    damage: list[Damage]
    """Damaged files, sorted by sentence."""


def verify(folder: str, runtime: Runtime, progress: StageProgress) -> VerifyResult:
    """Read all files of a folder that bitcipher wrote, and return those that are damaged.

    Args:
        folder: folder of a build, of vectors, or of document shards.
        runtime: runtime of the checks.
        progress: progress bars.

    Raises:
        BitcipherError: if the folder is none of these, cannot be listed, or a job removed files in the meantime.
    """
    folder = storage.absolute(folder)
    kind, find_checks = _kind(folder)
    sizes = storage.list_files(folder)
    result = run_checks(kind, find_checks(folder, sizes), runtime, progress)
    if result.damage and not sizes.keys() <= storage.list_files(folder).keys():
        raise BitcipherError(f"A job removed files of {folder} while they were read: run the same command again.")
    return result


def run_checks(kind: str, checks: list[Check], runtime: Runtime, progress: StageProgress) -> VerifyResult:
    """Run the checks of a folder.

    Args:
        kind: what the folder holds.
        checks: the checks.
        runtime: runtime of the checks.
        progress: progress bars.
    """
    bar = progress.begin("verify", sum(check.size for check in checks))
    size, damage = 0, []
    for result in runtime.stream(StageSpec("verify", VerifyStage, {}), checks):
        size += result.value.size
        damage += result.value.damage
        progress.advance(bar, result.value.size, format_size(size))
    progress.end(bar)
    return VerifyResult(kind, size, sorted(set(damage), key=lambda each: each.sentence))


def _kind(folder: str) -> tuple[str, Callable[[str, dict[str, int]], list[Check]]]:
    if versions(folder):
        return "build", build_checks
    if newest_manifest(folder):
        return "folder of document shards", document_checks
    if storage.exists(storage.join(folder, MANIFEST)):
        return "folder of vectors", _vector_checks
    raise BitcipherError(
        f"{folder} is neither a build, nor a folder of vectors, document shards or training runs: give the folder that "
        "`bitcipher build`, `embed`, `shard` or `train` wrote."
    )


def _vector_checks(folder: str, sizes: dict[str, int]) -> list[Check]:
    advice = "Restore the folder from a copy, or make the vectors again with `bitcipher embed`."
    return [VectorsCheck(folder, advice, sum(sizes.values()))]
