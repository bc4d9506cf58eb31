"""Output of `bitcipher neighbors` and `bitcipher inspect`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bitcipher import storage
from bitcipher.evaluation.case_variants import CaseVariants
from bitcipher.sizes import format_size
from bitcipher.table import Oov
from bitcipher.vectors import CipherVectors
from bitcipher.versions import versions
from cluster.cli.display.builds import print_version
from cluster.cli.display.console import OUT, format_count, format_table_size, format_word, make_table
from pipelines.build.report import read_report
from pipelines.store.manifest import read_manifest


@dataclass(frozen=True)
class Neighbor:
    """A word and its cosine with the vector of a query."""

    word: str
    cosine: float


@dataclass(frozen=True)
class NeighborQuery:
    """What is added to each word, and how unknown words are treated."""

    plus: tuple[str, ...]
    minus: tuple[str, ...]
    topn: int
    """Number of neighbors."""
    oov: Oov | None
    """Vectors of unknown words; None for their spelling if the vectors have n-grams, else an error."""
    case_insensitive: bool
    """Whether the most frequent word that differs in case replaces an unknown word."""


@dataclass(frozen=True)
class WordNeighbors:
    """The nearest words of a word, or of a sum of words."""

    word: str
    plus: tuple[str, ...]
    minus: tuple[str, ...]
    from_spelling: tuple[str, ...]
    """Those of these words that are unknown, and whose vectors were made from their n-grams."""
    neighbors: list[Neighbor]
    """Empty if the vector is zero."""


@dataclass(frozen=True)
class Contents:
    """Manifest and files of a build or of a folder of vectors."""

    kind: str
    """`build` or `vectors`."""
    words: int
    dimensions: int | None
    """None if a build has no vectors yet."""
    manifest: dict[str, Any]
    report: dict[str, Any] | None
    """Costs of the stages of the job that made the version; None for a folder of vectors."""
    files: dict[str, int]
    """Size of each file in bytes, by its path in the folder."""


def find_neighbors(uri: str, words: list[str], query: NeighborQuery, version: int | None) -> list[WordNeighbors]:
    """Return the nearest words of each word, with the same words added and subtracted.

    Raises:
        UnknownWordError: if a word is unknown, and has no vector from its spelling.
    """
    vectors = CipherVectors.load(uri, version, verify=True)
    plus, minus = (_find_words(vectors, group, query.case_insensitive) for group in (query.plus, query.minus))
    return [
        _find_neighbors(vectors, word, plus, minus, query)
        for word in _find_words(vectors, words, query.case_insensitive)
    ]


def print_neighbors(found: list[WordNeighbors]) -> None:
    """Print a table of nearest words for each query."""
    for each in found:
        if each.neighbors:
            table = make_table(_title(each), "cosine")
            for neighbor in each.neighbors:
                table.add_row(format_word(neighbor.word), f"{neighbor.cosine:.3f}")
            OUT.print(table)
        else:
            OUT.print(f"{_title(each)}: the vector is zero, so it has no neighbors.")
        OUT.print()


def _find_words(vectors: CipherVectors, words: Sequence[str], case_insensitive: bool) -> tuple[str, ...]:
    """Return the words, and for an unknown one the most frequent word that differs only in case, if that is allowed."""
    if not case_insensitive:
        return tuple(words)
    variants = CaseVariants(vectors.index_to_key, True)
    known = [vectors.index_to_key[variants.row(word)] if word in variants else word for word in words]
    return tuple(word if word in vectors else other for word, other in zip(words, known, strict=True))


def _find_neighbors(
    vectors: CipherVectors, word: str, plus: tuple[str, ...], minus: tuple[str, ...], query: NeighborQuery
) -> WordNeighbors:
    unknown = tuple(each for each in dict.fromkeys((word, *plus, *minus)) if each not in vectors)
    oov = query.oov
    if oov is None:  # an unknown word without known n-grams is an error
        oov = "spelling" if unknown and _have_ngrams(vectors, unknown) else False
    nearest = vectors.most_similar([word, *plus], minus, topn=query.topn, oov=oov)
    neighbors = [Neighbor(other, float(cosine)) for other, cosine in nearest]
    return WordNeighbors(word, plus, minus, unknown if oov == "spelling" else (), neighbors)


def _have_ngrams(vectors: CipherVectors, words: Sequence[str]) -> bool:
    """Return whether the vectors know n-grams of each word."""
    return vectors.spelling is not None and bool(vectors.spelling.predict(words).any(axis=1).all())


def _title(found: WordNeighbors) -> str:
    def term(word: str) -> str:
        return format_word(word) + (" (from its spelling)" if word in found.from_spelling else "")

    return "".join(
        [term(found.word), *(f" + {term(word)}" for word in found.plus), *(f" - {term(word)}" for word in found.minus)]
    )


def read_contents(uri: str, version: int | None) -> Contents:
    """Return the manifest of a build or of vectors, and the sizes of its files."""
    if versions(uri) or version is not None:
        manifest = read_manifest(uri, version)
        report = read_report(uri, manifest).to_dict()
        dimensions = manifest.vectors.dimensions if manifest.vectors else None
        kind, words, fields = "build", manifest.vocabulary, manifest.to_dict()
    else:
        vectors = CipherVectors.load(uri, verify=True)
        kind, words, dimensions, fields = "vectors", len(vectors), vectors.vector_size, dict(vectors.manifest)
        report = None
    return Contents(kind, words, dimensions, fields, report, dict(storage.list_files(uri)))


def print_contents(uri: str, contents: Contents) -> None:
    """Print the manifest of a build or of vectors, and the sizes of its files."""
    fields = dict(contents.manifest)
    if contents.kind == "build":
        tables = fields.pop("tables")
        _print_fields(fields)
        OUT.print(
            ", ".join(format_count(table["rows"], name.removesuffix("s")) for name, table in tables.items()) + "\n"
        )
        print_version(uri, read_manifest(uri, fields["version"]))
    else:
        OUT.print(format_table_size(contents.words, contents.dimensions) + "\n")
        _print_fields(fields)
    OUT.print()
    for name, size in contents.files.items():
        OUT.print(f"{format_size(size):>10}  {name}")


def _print_fields(values: dict[str, Any], indent: str = "") -> None:
    for name, value in values.items():
        if isinstance(value, dict):
            OUT.print(f"{indent}{name}:")
            _print_fields(value, indent + "  ")
        else:
            OUT.print(f"{indent}{name}: {value:,}" if type(value) is int else f"{indent}{name}: {value}")
