"""Output of `bitcipher neighbors` and `bitcipher inspect`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bitcipher.files import storage
from bitcipher.sizes import format_size
from bitcipher.versions import versions
from cluster.cli.display.builds import print_version
from cluster.cli.display.console import OUT, format_count, format_table_size, format_word
from cluster.cli.display.tables import TextTable
from pipelines.builds.report import read_report
from pipelines.store.manifest import read_manifest

if TYPE_CHECKING:
    from cluster.neighbors import WordNeighbors


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


def print_neighbors(found: "list[WordNeighbors]") -> None:
    """Print a table of nearest words for each query."""
    for each in found:
        if each.neighbors:
            table = TextTable(_title(each), "cosine")
            for neighbor in each.neighbors:
                table.add_row(format_word(neighbor.word), f"{neighbor.cosine:.3f}")
            table.print()
        else:
            OUT.print(f"{_title(each)}: the vector is zero, so it has no neighbors.")
        OUT.print()


def _title(found: "WordNeighbors") -> str:
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
        from bitcipher.vectors.cipher_vectors import CipherVectors  # imports NumPy and Arrow

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
