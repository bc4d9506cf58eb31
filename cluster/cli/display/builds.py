"""What the command prints: summaries, tables of neighbors, and the insides of builds and vectors."""

from typing import Any

from rich.console import Console
from rich.table import Table

from bitcipher import storage
from bitcipher.vectors import CipherVectors
from bitcipher.versions import vectors_of, versions
from pipelines.build.status import read_status
from pipelines.ingest.source_changes import SourceChanges
from pipelines.ingest.sources import Source
from pipelines.store import layout

# Names to show of lists that may be long.
EXAMPLES = 5

# Words and paths come from data: a bracket in them is a bracket, not markup.
_OUT = Console(highlight=False, soft_wrap=True, markup=False)


def build_summary(build: str) -> None:
    """What the newest version of a build holds, and what each stage took."""
    version(build, layout.read_manifest(build))


def version(build: str, manifest: dict[str, Any]) -> None:
    """What a version holds, how far it drifted, and what each stage took."""
    report = storage.read_json(layout.version_file(build, manifest, layout.REPORT))
    table = Table("stage", "seconds", "CPU seconds", "tokens/s", "peak memory", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, stage in report["stages"].items():
        rate = f"{report['tokens'] / max(stage['seconds'], 1e-9):,.0f}"
        table.add_row(name, f"{stage['seconds']:.1f}", f"{stage['cpu_seconds']:.1f}", rate, _size(stage["peak_bytes"]))
    _OUT.print(table)
    if "drift" in manifest:
        _print_drift(manifest["drift"])
    vectors = manifest["vectors"]
    _OUT.print(
        f"\n{manifest['documents']:,} documents, {manifest['tokens']:,} tokens, {manifest['vocabulary']:,} words, "
        f"{vectors['dimensions']} dimensions in {report['seconds']:.1f} s → {build}, version {manifest['version']}"
    )
    _warn_of_empty(vectors["empty_words"])


def changes(found: SourceChanges, replaced: bool) -> None:
    """What became of the sources of an update."""
    _OUT.print(f"{_files(found.new)} new, {_files(found.same)} as they were, {_files(found.copies)} known by content.")
    for name, sources, fate in (
        ("changed", found.changed, "counted anew" if replaced else "left as they were counted"),
        ("vanished", found.vanished, "subtracted" if replaced else "still counted"),
    ):
        if sources:
            _OUT.print(f"{_files(sources)} {name} since they were counted, {fate}{'' if replaced else ' (--replace)'}:")
            for source in sources[:EXAMPLES]:
                _OUT.print(f"  {source.uri}")
            if len(sources) > EXAMPLES:
                _OUT.print(f"  and {len(sources) - EXAMPLES:,} more")


def status(build: str) -> None:
    """The versions of a build and the job at work on it."""
    found = read_status(build)
    for number in found.versions:
        manifest = layout.read_manifest(build, number)
        drift = manifest.get("drift")
        moved = f", {1 - drift['neighbors']:.1%} of neighbors moved" if drift else ""
        _OUT.print(
            f"version {number}: {manifest['documents']:,} documents, {manifest['tokens']:,} tokens, "
            f"{manifest['vocabulary']:,} words{moved}"
        )
    if found.job is None:
        _OUT.print("No job is at work, and none is unfinished.")
        return
    _OUT.print(f"\nversion {found.job['version']} is being made since {found.job['started']}:")
    counted = f"{found.tasks_done:,} of {found.tasks:,} tasks counted" if found.tasks else "no task counted yet"
    _OUT.print(f"  {counted}, {found.tokens:,} tokens, {found.ranges_merged:,} ranges merged")
    if found.holder is None:
        _OUT.print("  Nobody is at work on it: run the same command again, and it goes on from there.")
    else:
        holder = found.holder
        _OUT.print(f"  by process {holder['pid']} on {holder['host']}, last sign of life {holder['time']}")


def embed_summary(target: str, sizes: dict[str, Any]) -> None:
    """What was embedded."""
    _OUT.print(f"{sizes['words']:,} words, {sizes['dimensions']} dimensions → {target}")
    _warn_of_empty(sizes["empty_words"])


def neighbors(uri: str, words: list[str], topn: int, oov: bool, number: int | None) -> None:
    """The nearest words of each word, a table each."""
    vectors = CipherVectors.load(vectors_of(uri, number))
    found = {word: vectors.most_similar(word, topn=topn, oov=oov) for word in words}
    for word, nearest in found.items():
        table = Table(_plain(word), "cosine", box=None, pad_edge=False)
        for other, cosine in nearest:
            table.add_row(_plain(other), f"{cosine:.3f}")
        _OUT.print(table)
        _OUT.print()


def inspect(uri: str, number: int | None) -> None:
    """The manifest of a build or of vectors, with sizes on storage."""
    if versions(uri) or number is not None:
        manifest = layout.read_manifest(uri, number)
        lists = ("sources", "tasks", "shards", "segments")
        _print_fields({name: manifest[name] for name in manifest if name not in lists})
        _OUT.print(", ".join(f"{len(manifest[name]):,} {name}" for name in lists) + "\n")
        version(uri, manifest)
    else:
        vectors = CipherVectors.load(uri)
        _OUT.print(f"{len(vectors):,} words, {vectors.vector_size} dimensions\n")
        _print_fields(vectors.manifest)
    _OUT.print()
    for name, size in storage.list_files(uri).items():
        _OUT.print(f"{_size(size):>10}  {name}")


def _print_drift(drift: dict[str, Any]) -> None:
    moves = drift["rank_moves"]
    _OUT.print(
        f"\n{drift['words_in']:,} words came ({_some(drift['came'])}), {drift['words_out']:,} went "
        f"({_some(drift['went'])}); {moves['words']:,} words have another rank, by {moves['median']:,.0f} in the "
        f"median and {moves['percentile_99']:,.0f} at the 99th percentile; {drift['neighbors']:.1%} of the ten "
        f"nearest of {drift['sample']} common words stayed."
    )


def _some(words: list[str]) -> str:
    return ", ".join(map(_plain, words[:EXAMPLES])) or "none"


def _files(sources: list[Source]) -> str:
    return f"{len(sources):,} file{'' if len(sources) == 1 else 's'}"


def _print_fields(values: dict[str, Any], indent: str = "") -> None:
    for name, value in values.items():
        if isinstance(value, dict):
            _OUT.print(f"{indent}{name}:")
            _print_fields(value, indent + "  ")
        else:
            _OUT.print(f"{indent}{name}: {value:,}" if type(value) is int else f"{indent}{name}: {value}")


def _warn_of_empty(words: int) -> None:
    if words:
        _OUT.print(f"Without any context, so with vectors of zeros: {words:,} of the words.")


def _plain(word: str) -> str:
    """A word on one line, whatever it holds."""
    return word if word.isprintable() else repr(word)


def _size(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
