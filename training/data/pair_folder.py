"""Texts of pairs in a prepared folder: for each split, a document for each source and for the target after it."""

import json
from collections.abc import Sequence

from bitcipher.files import json_files, storage
from bitcipher.files.file_digests import FileDigest, check_digest, digest_file
from bitcipher.files.records import Count, Record
from training.data.text_pairs import TextPair, count_overlap

METADATA = "pairs.json"
TRAIN, VALIDATION = "train.jsonl", "validation.jsonl"


class PairsMetadata(Record):
    """Numbers of pairs, and digests of their files; stored as `pairs.json`."""

    left_out: Count
    """Number of training pairs that were left out, because they are also validation pairs."""
    shared_sources: Count
    """Number of validation pairs whose source is that of a training pair with another target."""
    files: dict[str, FileDigest]
    """Digest of each file of texts by its name."""


def write_pairs(folder: str, train: Sequence[TextPair], validation: Sequence[TextPair], left_out: int) -> None:
    """Write the texts of both splits, and then `pairs.json`.

    Args:
        folder: path or URI.
        train: training pairs, none of which is a validation pair.
        validation: validation pairs.
        left_out: see `PairsMetadata`.

    Raises:
        BitcipherError: if a file cannot be written.
    """
    for name, pairs in ((TRAIN, train), (VALIDATION, validation)):
        with storage.writing(storage.join(folder, name)) as stream:
            for pair in pairs:
                for text in pair:
                    stream.write(json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n")
    files = {name: digest_file(storage.join(folder, name)) for name in (TRAIN, VALIDATION)}
    shared_sources = count_overlap(validation, train).sources
    metadata = PairsMetadata(left_out=left_out, shared_sources=shared_sources, files=files)
    json_files.write(storage.join(folder, METADATA), metadata.to_dict())


def read_pairs_metadata(folder: str) -> PairsMetadata:
    """Return the numbers of pairs in a prepared folder."""
    return PairsMetadata.read(storage.join(folder, METADATA))


def check_stored_pairs(folder: str, name: str) -> None:
    """Compare the file of a split with its digest; see `read_stored_pairs`."""
    digest = read_pairs_metadata(folder).files[name]
    check_digest(storage.join(folder, name), digest, f"remove {folder}, and train again to write it")


def read_stored_pairs(folder: str, name: str) -> list[TextPair]:
    """Return the pairs of a split.

    Args:
        folder: path or URI of a prepared folder.
        name: `TRAIN` or `VALIDATION`.

    Raises:
        BitcipherError: if the file is missing or damaged.
    """
    check_stored_pairs(folder, name)
    with storage.reading(storage.join(folder, name)) as stream:
        texts = iter([json.loads(line)["text"] for line in stream])
    return [TextPair(source, next(texts)) for source in texts]
