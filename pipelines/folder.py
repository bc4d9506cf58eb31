"""The folder of a build.

    manifest.json        what it was made of and with which options, the sizes, and the digests of the rest
    report.json          what each stage took: the only file that differs between equal builds
    words.parquet        the vocabulary in order of rank
    pairs/               merged pairs by rank, a range of words a file, those of <oov> last
    vectors/             the vectors of the build's own options
    shards/NAME/         words and pairs of each shard, independent of any vocabulary
    documents/           shards of documents, if they were to be kept

It is written under another name beside its own, and gets its own when it is whole.
"""

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError

FORMAT = "bitcipher-build/1"
MANIFEST = "manifest.json"
REPORT = "report.json"
WORDS = "words.parquet"
PAIRS = "pairs"
VECTORS = "vectors"

READ_BYTES = 1 << 22


@contextmanager
def unfinished_folder(target: str) -> Iterator[str]:
    """A folder beside the target that becomes the target if the block ends well, and else is removed.

    Raises:
        BitcipherError: if the target is already there or cannot be written.
    """
    check_free(target)
    work = f"{target.rstrip('/')}.{uuid.uuid4().hex[:12]}.partial"
    try:
        storage.write_json(storage.join(work, REPORT), {})  # an unwritable target shows now, not after hours
        yield work
        storage.move(work, target)
    except BaseException:
        storage.remove(work)
        raise


def check_free(target: str) -> None:
    """Refuse a target that is already there."""
    if storage.exists(target):
        raise BitcipherError(f"{target} is already there: choose another name, or remove it first.")


def digest(folder: str, name: str) -> str:
    """The SHA-256 of a file, or of all files below a folder: of their names and contents, in the names' order."""
    uri = storage.join(folder, name)
    total = hashlib.sha256()
    below = storage.files_below(uri)
    for file in below:
        is_single = list(below) == ["."]
        if not is_single:
            total.update(file.encode() + b"\n")
        with storage.reading(uri if is_single else storage.join(uri, file)) as stream:
            while data := stream.read(READ_BYTES):
                total.update(data)
    return total.hexdigest()


def read_manifest(build: str) -> dict[str, Any]:
    """The manifest of a build.

    Raises:
        BitcipherError: if the folder is no build, or one of another version.
    """
    uri = storage.join(build, MANIFEST)
    if not storage.exists(uri):
        raise BitcipherError(f"{build} is not a build: it holds no {MANIFEST}; make one with `bitcipher build`.")
    manifest = storage.read_json(uri)
    name = manifest.get("format")
    if name != FORMAT:
        raise BitcipherError(
            f"{build} is not a build that this bitcipher reads: its format is {name!r}, not {FORMAT!r}."
        )
    return manifest
