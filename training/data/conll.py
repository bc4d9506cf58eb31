"""Readers for CoNLL-U and CoNLL-2003 files."""

from collections.abc import Iterator

from bitcipher.errors import BitcipherError
from bitcipher.files.text_files import read_lines

# Column indices of CoNLL-U (universaldependencies.org/format.html).
CONLLU_COLUMNS = 10
ID, FORM, XPOS = 0, 1, 4

CONLL2003_COLUMNS = 4
DOCUMENT_START = "-DOCSTART-"

Sentences = list[list[tuple[str, str]]]


def read_conllu(uri: str) -> Sentences:
    """Return the sentences of a CoNLL-U file, which can be compressed with gzip: words with their xpos tags.

    Multiword tokens (1-2) and empty nodes (8.1) are skipped.

    Raises:
        BitcipherError: if the file is missing or empty, or if a line does not have ten columns or has no xpos tag.
    """
    sentences: Sentences = [[]]
    for number, line in _lines(uri):
        if not line:
            sentences.append([])
        elif not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != CONLLU_COLUMNS:
                raise BitcipherError(
                    f"Line {number} of {uri} has {len(columns)} columns instead of the {CONLLU_COLUMNS} tab-separated "
                    "columns of CoNLL-U; use a .conllu file."
                )
            if not columns[ID].isdecimal():
                continue
            if columns[XPOS] == "_":
                raise BitcipherError(
                    f"Line {number} of {uri} has no xpos tag for {columns[FORM]!r}, which the task needs."
                )
            sentences[-1].append((columns[FORM], columns[XPOS]))
    return _not_empty(sentences, uri)


def read_conll2003(uri: str) -> list[Sentences]:
    """Return the documents of a CoNLL-2003 file as lists of sentences: words with their entity tags.

    Raises:
        BitcipherError: if the file is missing or empty, or if a line does not have four columns or a valid entity tag.
    """
    documents: list[Sentences] = [[[]]]
    for number, line in _lines(uri):
        columns = line.split()
        if not columns:
            documents[-1].append([])
        elif len(columns) != CONLL2003_COLUMNS:
            raise BitcipherError(
                f"Line {number} of {uri} has {len(columns)} columns instead of the {CONLL2003_COLUMNS} of CoNLL-2003: "
                "word, part of speech, chunk and entity."
            )
        elif columns[0] == DOCUMENT_START:
            documents.append([[]])
        elif columns[-1] != "O" and columns[-1][:2] not in ("I-", "B-"):
            raise BitcipherError(f"Line {number} of {uri} has the entity {columns[-1]!r}, which is not O, I-… or B-….")
        else:
            documents[-1][-1].append((columns[0], columns[-1]))
    documents = [[sentence for sentence in document if sentence] for document in documents]
    _not_empty([sentence for document in documents for sentence in document], uri)
    return [document for document in documents if document]


def _lines(uri: str) -> Iterator[tuple[int, str]]:
    yield from enumerate(read_lines(uri), 1)


def _not_empty(sentences: Sentences, uri: str) -> Sentences:
    sentences = [sentence for sentence in sentences if sentence]
    if not sentences:
        raise BitcipherError(f"{uri} has no labeled words.")
    return sentences
