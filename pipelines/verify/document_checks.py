"""Checks of a folder of document shards."""

import re

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.shard.document_table import stem
from pipelines.shard.document_version import KINDS, read_newest
from pipelines.verify.checks import HashCheck
from pipelines.verify.damage import Check, KnownDamage, error_of

_ADVICE = "Restore the file from a copy, or run `bitcipher shard` with the same sources and a new folder."

# Names of dropped and bad records contain the beginning of the SHA-256 of the file.
_HASH = re.compile(r"-([0-9a-f]{8})\.parquet$")


def document_checks(folder: str, sizes: dict[str, int]) -> list[Check]:
    """Return the checks of all files that the newest version of a folder of document shards refers to.

    The files that a damaged table lists are not checked.

    Args:
        folder: the folder.
        sizes: bytes of each file, by its path relative to the folder.
    """
    try:
        version = read_newest(folder)
    except BitcipherError as error:
        return [KnownDamage(str(error), _ADVICE)]
    assert version is not None  # the caller has found it
    errors = {name: error_of(version.table, name) for name in KINDS}
    checks: list[Check] = [KnownDamage(sentence, _ADVICE) for sentence in sorted(filter(None, set(errors.values())))]
    files = () if errors["files"] else version.files
    tasks = () if errors["tasks"] else version.tasks
    checks += [HashCheck(storage.join(folder, file.name), file.sha256, _ADVICE, file.size) for file in files]
    for name in (name for task in tasks for name in (*task.dropped_files, *task.quarantine_files)):
        hashed = _HASH.search(name)
        checks.append(HashCheck(storage.join(folder, name), hashed[1] if hashed else "", _ADVICE, sizes.get(name, 0)))
    for file in files:
        for kind, sha256 in file.key_hashes.items():
            name = f"keys/{kind}/{stem(file.name)}.parquet"
            checks.append(HashCheck(storage.join(folder, name), sha256, _ADVICE, sizes.get(name, 0)))
    return checks
