"""Output of Markdown, which commands of training also write to files."""

from bitcipher.files.markdown import MarkdownTable, split_tables
from bitcipher.terminal import print_text
from cluster.cli.display.console import OUT
from cluster.cli.display.tables import TextTable

_STYLES = {"": "", "*": "italic", "**": "bold"}


def print_markdown(markdown: str) -> None:
    """Print Markdown of `format_table` and lines of text: as tables in a terminal, unchanged to files and pipes."""
    if not OUT.is_terminal:
        print_text(markdown, end="")
        return
    for part in split_tables(markdown):
        if isinstance(part, MarkdownTable):
            table = TextTable(*part.header, text_columns=part.text_columns)
            for cells, mark in zip(part.rows, part.marks, strict=True):
                table.add_row(*cells, style=_STYLES[mark])
            table.print()
        else:
            OUT.print(part)
