"""A folder for TensorFlow's projector: vectors.tsv, and metadata.tsv with the word, its rank and its count."""

import orjson

from bitcipher import storage
from bitcipher.formats.row_blocks import Advance, blocks, new_folder
from bitcipher.vectors import CipherVectors


def write(vectors: CipherVectors, target: str, advance: Advance) -> None:
    """Write the folder. The rank keeps each line of the metadata from being blank, which the projector passes over."""
    with new_folder(target) as folder:
        with storage.writing(storage.join(folder, "vectors.tsv")) as stream:
            for _, _, rows in blocks(vectors, advance):
                text = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)[2:-2]
                stream.write(text.replace(b"],[", b"\n").replace(b",", b"\t") + b"\n")
        columns = {"word": vectors.index_to_key, "rank": range(1, len(vectors) + 1)}
        if vectors.counts is not None:
            columns["count"] = vectors.counts.tolist()
        with storage.writing(storage.join(folder, "metadata.tsv")) as stream:
            stream.write("\t".join(columns).encode() + b"\n")
            stream.writelines("\t".join(map(str, row)).encode() + b"\n" for row in zip(*columns.values(), strict=True))
