"""Find near duplicates with bitcipher.

duplicates_ours.py CORPUS

Prints file, row and cluster of each document in a cluster, one per line.
"""

import sys
from pathlib import Path

import orjson
import pyarrow as pa

from pipelines.duplicates.copies import find_copies
from pipelines.duplicates.decisions import decide_documents
from pipelines.duplicates.keys import compute_keys, document_id
from pipelines.duplicates.near_pairs import find_near_pairs
from pipelines.duplicates.options import DuplicateOptions, NearOptions

NEAR = NearOptions()
OPTIONS = DuplicateOptions(near=NEAR)


def main(corpus: str) -> None:
    """Find near duplicates in all files of a directory."""
    tables = []
    for number, path in enumerate(sorted(Path(corpus).iterdir())):
        with open(path, "rb") as lines:
            texts = pa.array([orjson.loads(line)["text"] for line in lines], pa.large_string())
        tables.append(compute_keys(texts, document_id(number), OPTIONS))
    copies = find_copies(pa.concat_tables([keys.documents for keys in tables]))
    pairs = find_near_pairs(pa.concat_tables([keys.near for keys in tables]), NEAR)
    decisions = decide_documents(copies, pairs)
    clusters = dict(zip(*(decisions.column(name).to_pylist() for name in ("document", "kept")), strict=True))
    clusters |= {kept: kept for kept in clusters.values()}
    for document, cluster in clusters.items():
        print(document >> 32, document & 0xFFFFFFFF, cluster)


if __name__ == "__main__":
    main(*sys.argv[1:])
