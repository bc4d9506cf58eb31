"""What the command prints: summaries, tables of neighbours, and the insides of builds and vectors."""

from typing import Any

from rich.console import Console
from rich.table import Table

from bitcipher import storage
from bitcipher.vectors import CipherVectors
from pipelines import folder

# Words and paths come from data: a bracket in them is a bracket, not markup.
_OUT = Console(highlight=False, soft_wrap=True, markup=False)


def build_summary(build: str) -> None:
    """What a build holds and what each stage took."""
    manifest, report = folder.read_manifest(build), storage.read_json(storage.join(build, folder.REPORT))
    table = Table("stage", "seconds", "CPU seconds", "tokens/s", "peak memory", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, stage in report["stages"].items():
        table.add_row(
            name,
            f"{stage['seconds']:.1f}",
            f"{stage['cpu_seconds']:.1f}",
            f"{manifest['tokens'] / max(stage['seconds'], 1e-9):,.0f}",
            _size(stage["peak_bytes"]),
        )
    _OUT.print(table)
    vectors = manifest["vectors"]
    _OUT.print(
        f"\n{manifest['documents']:,} documents, {manifest['tokens']:,} tokens, {manifest['vocabulary']:,} words, "
        f"{vectors['dimensions']} dimensions in {report['seconds']:.1f} s → {build}"
    )
    _warn_of_empty(vectors["empty_words"])


def embed_summary(target: str, sizes: dict[str, Any]) -> None:
    """What was embedded."""
    _OUT.print(f"{sizes['words']:,} words, {sizes['dimensions']} dimensions → {target}")
    _warn_of_empty(sizes["empty_words"])


def neighbors(uri: str, words: list[str], topn: int, oov: bool) -> None:
    """The nearest words of each word, a table each."""
    vectors = CipherVectors.load(vectors_of(uri))
    found = {word: vectors.most_similar(word, topn=topn, oov=oov) for word in words}
    for word, nearest in found.items():
        table = Table(_plain(word), "cosine", box=None, pad_edge=False)
        for other, cosine in nearest:
            table.add_row(_plain(other), f"{cosine:.3f}")
        _OUT.print(table)
        _OUT.print()


def inspect(uri: str) -> None:
    """The manifest of a build or of vectors, with sizes on storage."""
    if is_build(uri):
        manifest = folder.read_manifest(uri)
        _print_fields({name: manifest[name] for name in manifest if name not in ("sources", "shards")})
        _OUT.print(f"sources: {len(manifest['sources']):,}, shards: {len(manifest['shards']):,}\n")
        build_summary(uri)
    else:
        vectors = CipherVectors.load(uri)
        _OUT.print(f"{len(vectors):,} words, {vectors.vector_size} dimensions\n")
        _print_fields(vectors.manifest)
    _OUT.print()
    for name, size in storage.files_below(uri).items():
        _OUT.print(f"{_size(size):>10}  {name}")


def vectors_of(uri: str) -> str:
    """The folder of vectors that is meant by a build, or by itself."""
    return storage.join(uri, folder.VECTORS) if is_build(uri) else uri


def is_build(uri: str) -> bool:
    """Whether a folder is a build rather than vectors."""
    manifest = storage.join(uri, folder.MANIFEST)
    return storage.exists(manifest) and storage.exists(storage.join(uri, folder.PAIRS))


def _print_fields(values: dict[str, Any], indent: str = "") -> None:
    for name, value in values.items():
        if isinstance(value, dict):
            _OUT.print(f"{indent}{name}:")
            _print_fields(value, indent + "  ")
        else:
            _OUT.print(f"{indent}{name}: {value:,}" if type(value) is int else f"{indent}{name}: {value}")


def _warn_of_empty(words: int) -> None:
    if words:
        _OUT.print(f"{words:,} words have no context, so their vectors are zero.")


def _plain(word: str) -> str:
    """A word on one line, whatever it holds."""
    return word if word.isprintable() else repr(word)


def _size(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
