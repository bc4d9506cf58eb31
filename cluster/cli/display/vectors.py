"""Output of `bitcipher neighbors` and `bitcipher inspect`."""

from dataclasses import dataclass
from typing import Any

from bitcipher import storage
from bitcipher.sizes import format_size
from bitcipher.table import Oov
from bitcipher.vectors import CipherVectors
from bitcipher.versions import versions
from cluster.cli.display.builds import print_version
from cluster.cli.display.console import OUT, format_word, make_table
from pipelines.build.report import read_report
from pipelines.store.manifest import read_manifest


@dataclass(frozen=True)
class Neighbor:
    """A word and its cosine with the vector of a query."""

    word: str
    cosine: float


@dataclass(frozen=True)
class Query:
    """The nearest words of a word."""

    word: str
    from_spelling: bool
    """Whether the word is unknown, and its vector was made from its n-grams."""
    neighbors: list[Neighbor]


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


def find_neighbors(uri: str, words: list[str], topn: int, oov: bool, version: int | None) -> list[Query]:
    """Return the nearest words of each word."""
    vectors = CipherVectors.load(uri, version, verify=True)
    spelled = {word for word in words if not oov and _is_spelled(vectors, word)}
    unknown: dict[str, Oov] = {word: "spelling" if word in spelled else oov for word in words}
    nearest = {word: vectors.most_similar(word, topn=topn, oov=unknown[word]) for word in words}
    return [
        Query(word, word in spelled, [Neighbor(other, float(cosine)) for other, cosine in found])
        for word, found in nearest.items()
    ]


def print_neighbors(queries: list[Query]) -> None:
    """Print a table of nearest words for each query."""
    for query in queries:
        table = make_table(
            f"{format_word(query.word)}{' (from its spelling)' if query.from_spelling else ''}", "cosine"
        )
        for each in query.neighbors:
            table.add_row(format_word(each.word), f"{each.cosine:.3f}")
        OUT.print(table)
        OUT.print()


def _is_spelled(vectors: CipherVectors, word: str) -> bool:
    """Return whether a word is unknown, and has n-grams that the vectors know."""
    return word not in vectors and vectors.spelling is not None and bool(vectors.spelling.predict([word]).any())


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
        OUT.print(", ".join(f"{table['rows']:,} {name}" for name, table in tables.items()) + "\n")
        print_version(uri, read_manifest(uri, fields["version"]))
    else:
        OUT.print(f"{contents.words:,} words, {contents.dimensions} dimensions\n")
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
