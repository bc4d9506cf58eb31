"""Kinds of keys by which duplicates are found, and the schemas of their tables."""

import pyarrow as pa

from pipelines.duplicates.exact_keys import DOCUMENT_KEYS, HOST_LINE_KEYS, PARAGRAPH_KEYS
from pipelines.duplicates.keys import KeyTables
from pipelines.duplicates.near_keys import NEAR_KEYS
from pipelines.duplicates.options import DuplicateOptions

KEY_SCHEMAS: dict[str, pa.Schema] = {
    "documents": DOCUMENT_KEYS,
    "near": NEAR_KEYS,
    "paragraphs": PARAGRAPH_KEYS,
    "host_lines": HOST_LINE_KEYS,
}


def key_kinds(options: DuplicateOptions) -> list[str]:
    """Return the kinds of keys that the options need."""
    return [kind for kind in KEY_SCHEMAS if getattr(options, kind)]


def key_tables(keys: KeyTables, options: DuplicateOptions) -> dict[str, pa.Table]:
    """Return the tables of the kinds of keys that the options need."""
    return {kind: getattr(keys, kind) for kind in key_kinds(options)}
