"""Tables of vectors with the provenance of their counts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bitcipher.counts.context_window import ContextWindow
from bitcipher.embedding.row_blocks import Finish, RowSource, finished_table
from bitcipher.errors import BitcipherError
from bitcipher.rows.context_vectors import ContextVectors
from bitcipher.table.vector_folder import TableFields
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import Vocabulary
from pipelines.embed.libraries import describe_libraries
from pipelines.options import EmbeddingOptions


def check_summed(options: EmbeddingOptions, context_window: ContextWindow) -> None:
    """Check that the options match counts that were summed over offsets.

    Raises:
        BitcipherError: if they need the offsets.
    """
    conflict = options.conflict_with_summed()
    if context_window.summed and conflict:
        raise BitcipherError(conflict)


@dataclass(frozen=True)
class RawTable:
    """Raw rows of a table, from which the vectors are made when they are written."""

    rows: RowSource
    """(N, d) raw rows in order of rank."""
    finish: Finish
    """Makes the vectors of a block of rows."""
    learned: dict[str, np.ndarray]
    """Arrays that map the contexts of new words to vectors."""
    provenance: dict[str, Any]
    """Fields for the manifest of the vectors, in addition to those of the counts."""
    contexts: ContextVectors | None = None
    """The context vectors that the rows are made of, in mode spectral."""

    def fields(self, vocabulary: Vocabulary, options: EmbeddingOptions, provenance: dict[str, Any]) -> TableFields:
        """Return the table without its vectors.

        Args:
            vocabulary: words of the rows.
            options: options of the vectors.
            provenance: fields for the manifest of the vectors.
        """
        manifest = {**provenance, **self.provenance, "total_passages": vocabulary.total_passages}
        manifest["made_with"] = describe_libraries()
        return TableFields(
            vocabulary.words,
            vocabulary.counts,
            vocabulary.passages,
            self.learned,
            {**manifest, "embedding": options.to_dict()},
            self.contexts and self.contexts.to_bytes(),
        )

    def to_vectors(
        self, vocabulary: Vocabulary, options: EmbeddingOptions, provenance: dict[str, Any]
    ) -> CipherVectors:
        """Return the vectors in memory. The arguments are those of `fields`."""
        fields = self.fields(vocabulary, options, provenance)
        table = finished_table(self.rows, self.finish)
        return CipherVectors(
            fields.words, table, fields.counts, fields.passages, dict(self.learned), manifest=fields.manifest
        )
