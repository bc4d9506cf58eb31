"""Duplicates of documents, paragraphs and lines: exact copies by hashes, and near duplicates by MinHash."""

from pipelines.duplicates.copies import (
    LINES,
    PAIRS,
    find_copies,
    find_host_lines,
    find_paragraph_copies,
    without_documents,
)
from pipelines.duplicates.decisions import (
    DECISIONS,
    DUPLICATE_DOCUMENT,
    NEAR_DUPLICATE,
    decide_documents,
    join_pairs,
    select_file,
)
from pipelines.duplicates.exact_keys import DOCUMENT_KEYS, HOST_LINE_KEYS, PARAGRAPH_KEYS
from pipelines.duplicates.keys import KeyTables, compute_keys, document_id, fingerprint, partition_of
from pipelines.duplicates.near_keys import NEAR_KEYS
from pipelines.duplicates.near_pairs import find_near_pairs
from pipelines.duplicates.options import DuplicateOptions, HostLineOptions, NearOptions, ParagraphOptions

__all__ = [
    "DECISIONS",
    "DOCUMENT_KEYS",
    "DUPLICATE_DOCUMENT",
    "HOST_LINE_KEYS",
    "LINES",
    "NEAR_DUPLICATE",
    "NEAR_KEYS",
    "PAIRS",
    "PARAGRAPH_KEYS",
    "DuplicateOptions",
    "HostLineOptions",
    "KeyTables",
    "NearOptions",
    "ParagraphOptions",
    "compute_keys",
    "decide_documents",
    "document_id",
    "find_copies",
    "find_host_lines",
    "find_near_pairs",
    "find_paragraph_copies",
    "fingerprint",
    "join_pairs",
    "partition_of",
    "select_file",
    "without_documents",
]
