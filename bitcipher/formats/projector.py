"""Writer of folders for the TensorFlow Projector: vectors.tsv, and metadata.tsv with word, rank and count."""

import orjson

from bitcipher.files import storage
from bitcipher.formats.row_blocks import Advance, iter_blocks
from bitcipher.table.vector_table import VectorTable


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the folder. The rank column keeps metadata lines from being blank, which the Projector would skip."""
    with storage.writing_folder(target) as folder:
        with storage.writing(storage.join(folder, "vectors.tsv")) as stream:
            for _, _, rows in iter_blocks(table, advance):
                text = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)[2:-2]
                stream.write(text.replace(b"],[", b"\n").replace(b",", b"\t") + b"\n")
        columns = {"word": table.index_to_key, "rank": range(1, len(table) + 1)}
        if table.counts is not None:
            columns["count"] = table.counts.tolist()
        with storage.writing(storage.join(folder, "metadata.tsv")) as stream:
            stream.write("\t".join(columns).encode() + b"\n")
            stream.writelines("\t".join(map(str, row)).encode() + b"\n" for row in zip(*columns.values(), strict=True))
