"""Rows of a classification data set, with the columns of a template."""

from collections.abc import Sequence

from bitcipher.errors import BitcipherError
from training.data.table_rows import list_tables, read_columns
from training.evaluation.prompting.label_template import LabelTemplate

# Values by column, with the label.
LabeledRow = dict[str, str]


def read_labeled_rows(patterns: Sequence[str], template: LabelTemplate) -> list[LabeledRow]:
    """Return the rows of tables in order: TSV, or JSON lines.

    Args:
        patterns: paths or URIs of files, folders or globs.
        template: template that names the columns.

    Raises:
        BitcipherError: if a file is malformed or lacks a column, has a label that the template lacks, or there are no
            rows.
    """
    columns = (*template.columns, template.label_column)
    rows = []
    for source in list_tables(patterns):
        for number, values in enumerate(read_columns(source, columns), 1):
            if values[-1] not in template.labels:
                raise BitcipherError(
                    f"Example {number} of {source.uri} has the label {values[-1]!r:.60}, which the template does not "
                    f"name: {', '.join(template.labels)}; add it to `labels`."
                )
            rows.append(dict(zip(columns, values, strict=True)))
    if not rows:
        raise BitcipherError(f"{', '.join(patterns)} has no examples; provide some.")
    return rows
