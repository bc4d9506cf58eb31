"""`tokenizer_name`: the tokenizer that a table records in its manifest."""

from bitcipher.table.vector_table import VectorTable


def tokenizer_name(table: VectorTable) -> str:
    """Return the name of the tokenizer that produced the words, or "" if the manifest does not record it."""
    options = table.manifest.get("options")
    return str(options.get("tokenizer") or "") if isinstance(options, dict) else ""
