"""Output about builds and vectors: summaries, status, neighbors and contents."""

from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.sizes import format_size
from bitcipher.table import Oov
from bitcipher.vectors import CipherVectors
from bitcipher.versions import versions
from cluster.cli.display.console import (
    OUT,
    format_count,
    format_share,
    format_word,
    list_examples,
    make_table,
)
from cluster.cli.display.records import describe_records
from pipelines.build.report import read_report
from pipelines.build.status import read_status
from pipelines.ingest.source_changes import SourceChanges
from pipelines.store.manifest import BasisState, BuildManifest, Drift, VectorMoves, VectorSizes, read_manifest

# Maximum number of files or words to show of a list.
EXAMPLES = 5

# Share of tokens outside the vocabulary above which advice is printed. Usual text has less than a tenth.
MAX_OOV_SHARE = 0.3


def print_build(build: str) -> None:
    """Print the size of the newest version of a build, and the cost of each stage."""
    print_version(build, read_manifest(build))


def print_version(build: str, manifest: BuildManifest) -> None:
    """Print the size, drift and bad records of a version, and the cost of each stage."""
    report = read_report(build, manifest)
    table = make_table("stage", "seconds", "CPU seconds", "tokens/s", "peak memory")
    for name, stage in report.stages.items():
        rate = f"{report.tokens / max(stage.seconds, 1e-9):,.0f}"
        costs = (f"{stage.seconds:.1f}", f"{stage.cpu_seconds:.1f}", rate, format_size(stage.peak_bytes))
        table.add_row(name, *costs)
    OUT.print(table)
    if manifest.drift:
        _print_drift(manifest.drift, manifest.drift_from)
        if manifest.basis:
            _print_basis(manifest.basis, manifest.version)
        if manifest.drift.vector_moves:
            _print_moves(manifest.drift.vector_moves, manifest.drift_from)
    own_vectors = manifest.vectors if manifest.has_own_vectors else None
    size = f"{own_vectors.dimensions} dimensions" if own_vectors else "counts only"
    OUT.print(
        f"\n{format_count(manifest.documents, 'document')}, {format_count(manifest.tokens, 'token')}, "
        f"{format_count(manifest.vocabulary, 'word')}, "
        f"{size} in {report.seconds:.1f} s → {build}, version {manifest.version}"
    )
    is_limited = manifest.options.word_list is not None or manifest.options.max_vocab_size is not None
    if manifest.oov_tokens > MAX_OOV_SHARE * manifest.tokens and not is_limited:
        _print_unknown_tokens(manifest)
    if own_vectors:
        _print_empty_words(own_vectors.empty_words)
    else:
        _print_missing_vectors(build, manifest)
    if line := describe_records(manifest.records):
        OUT.print(line)


def _print_unknown_tokens(manifest: BuildManifest) -> None:
    OUT.print(
        f"{format_share(manifest.oov_tokens / manifest.tokens)} of the tokens are outside the vocabulary, counted as "
        "<oov>. If the text is small, lower `--min-count`. If its words are not separated by spaces, as in Chinese, "
        "Japanese or Thai, separate them first, for example with spaCy's tokenizer for the language, and build with "
        "`--tokenizer whitespace`."
    )


def print_changes(changes: SourceChanges, replaced: bool) -> None:
    """Print the differences between the sources of an update and the sources read before."""
    OUT.print(
        f"{format_count(len(changes.new), 'new file')}, {len(changes.unchanged):,} unchanged, "
        f"{len(changes.copies):,} with content that was already read."
    )
    for name, sources, outcome in (
        (
            "changed",
            changes.changed,
            "read again" if replaced else "not read again (--replace reads them again)",
        ),
        ("vanished", changes.vanished, "removed" if replaced else "still included (--replace removes them)"),
    ):
        if sources:
            OUT.print(f"{format_count(len(sources), 'file')} {name}, {outcome}:")
            for source in sources[:EXAMPLES]:
                OUT.print(f"  {format_word(source.uri)}")
            if len(sources) > EXAMPLES:
                OUT.print(f"  and {len(sources) - EXAMPLES:,} more")


def print_status(build: str) -> None:
    """Print the versions of a build, and the progress of its running or interrupted job."""
    status = read_status(build)
    newest = None
    for number in status.versions:
        newest, description = _describe_version(build, number)
        OUT.print(f"version {number}: {description}")
    if newest and not newest.has_own_vectors:
        _print_missing_vectors(build, newest)
    if status.job is None:
        OUT.print("No job is running, and none was interrupted.")
        return
    if status.is_published and status.holder is None:
        OUT.print(
            f"\nThe job for version {status.job.version} published it, but stopped before it removed its temporary "
            "files. The next `bitcipher update` removes them, and so does `bitcipher prune --unfinished`."
        )
        return
    OUT.print(f"\nUnfinished job for version {status.job.version}, started {status.job.started}:")
    counted = f"{status.tasks_done:,} of {status.tasks:,} tasks counted" if status.tasks else "no task counted yet"
    OUT.print(f"  {counted}, {format_count(status.tokens, 'token')}, {status.ranges_merged:,} ranges of words merged")
    if status.holder is None:
        OUT.print("  The job was interrupted: run the same command again to resume it.")
    else:
        holder = status.holder
        OUT.print(f"  running as process {holder.pid} on {holder.host}, last heartbeat {holder.time}")


def print_embedding(target: str, sizes: VectorSizes) -> None:
    """Print the size of new vectors.

    Args:
        target: directory of the vectors.
        sizes: number of words and dimensions.
    """
    OUT.print(f"{sizes.words:,} words, {sizes.dimensions} dimensions → {target}")
    _print_empty_words(sizes.empty_words)


def print_neighbors(uri: str, words: list[str], topn: int, oov: bool, version: int | None) -> None:
    """Print a table of nearest words for each word."""
    vectors = CipherVectors.load(uri, version, verify=True)
    spelled = {word for word in words if not oov and _is_spelled(vectors, word)}
    unknown: dict[str, Oov] = {word: "spelling" if word in spelled else oov for word in words}
    neighbors = {word: vectors.most_similar(word, topn=topn, oov=unknown[word]) for word in words}
    for word, nearest in neighbors.items():
        table = make_table(f"{format_word(word)}{' (from its spelling)' if word in spelled else ''}", "cosine")
        for other, cosine in nearest:
            table.add_row(format_word(other), f"{cosine:.3f}")
        OUT.print(table)
        OUT.print()


def _is_spelled(vectors: CipherVectors, word: str) -> bool:
    """Return whether a word is unknown, and has n-grams that the vectors know."""
    return word not in vectors and vectors.spelling is not None and bool(vectors.spelling.predict([word]).any())


def print_contents(uri: str, version: int | None) -> None:
    """Print the manifest of a build or of vectors, and the sizes of its files."""
    if versions(uri) or version is not None:
        manifest = read_manifest(uri, version)
        fields = manifest.to_dict()
        tables = fields.pop("tables")
        _print_fields(fields)
        OUT.print(", ".join(f"{table['rows']:,} {name}" for name, table in tables.items()) + "\n")
        print_version(uri, manifest)
    else:
        vectors = CipherVectors.load(uri, verify=True)
        OUT.print(f"{len(vectors):,} words, {vectors.vector_size} dimensions\n")
        _print_fields(vectors.manifest)
    OUT.print()
    for name, size in storage.list_files(uri).items():
        OUT.print(f"{format_size(size):>10}  {name}")


def _describe_version(build: str, number: int) -> tuple[BuildManifest | None, str]:
    """Return the manifest of a version, and its sizes and drift; or None, and what is wrong with the manifest."""
    try:
        manifest = read_manifest(build, number)
    except BitcipherError as error:
        return None, f"{error} Restore the file from a copy, or remove the version with `bitcipher prune --keep`."
    return manifest, (
        f"{format_count(manifest.documents, 'document')}{_left_out(manifest)}, "
        f"{format_count(manifest.tokens, 'token')}, {format_count(manifest.vocabulary, 'word')}"
        f"{_describe_vectors(manifest)}"
    )


def _describe_vectors(manifest: BuildManifest) -> str:
    """Return the drift and the axes of a version's vectors, or that it has no vectors of its own."""
    if not manifest.has_own_vectors:
        return ", counts only"
    drift, since = manifest.drift, ""
    if drift and manifest.drift_from != manifest.version - 1:
        since = f" since version {manifest.drift_from}"
    moved = f", {format_share(1 - drift.neighbors)} of neighbors changed{since}" if drift else ""
    if manifest.basis and manifest.basis.version != manifest.version:
        moved += f", axes of version {manifest.basis.version}"
    return moved


def _print_missing_vectors(build: str, manifest: BuildManifest) -> None:
    """Print which vectors a version without vectors of its own has, and how to make new ones."""
    made_by = manifest.vectors_from
    found = f"its vectors are those of version {made_by.version}" if made_by else "there are no vectors yet"
    OUT.print(
        f"Version {manifest.version} has counts only; {found}. `bitcipher update {build} --vectors now` makes new ones."
    )


def _left_out(manifest: BuildManifest) -> str:
    """Return the number of bad records and of undecodable characters in brackets, empty if there are none."""
    numbers = (
        (sum(manifest.records.bad.values()), "bad record"),
        (manifest.records.replacements, "undecodable character"),
    )
    found = [format_count(number, noun) for number, noun in numbers if number]
    return f" ({', '.join(found)})" if found else ""


def _print_drift(drift: Drift, since: int | None) -> None:
    moves = drift.rank_moves
    OUT.print(
        f"\nSince version {since}: {drift.words_in:,} words added ({list_examples(drift.added, EXAMPLES)}), "
        f"{drift.words_out:,} removed ({list_examples(drift.removed, EXAMPLES)}); the ranks of {moves.words:,} words "
        f"changed, by {moves.median:,.0f} (median) and {moves.percentile_99:,.0f} (99th percentile); "
        f"{format_share(drift.neighbors)} of the ten nearest neighbors of {drift.sample} frequent words stayed."
    )


def _print_basis(basis: BasisState, version: int) -> None:
    """Print with which versions the vectors can be compared."""
    if basis.version == version:
        tried = ""
        if basis.residual is not None:
            tried = f", because the previous ones do not fit the counts (residual {basis.residual:.2f})"
        OUT.print(f"The vectors have new axes{tried}: do not compare them with those of earlier versions.")
    else:
        OUT.print(
            f"The vectors have the axes of version {basis.version}, so they can be compared with those of version "
            f"{basis.version} and of all versions since."
        )


def _print_moves(moves: VectorMoves, since: int | None) -> None:
    """Print how far words moved from the vectors of an earlier version."""
    furthest = ", ".join(f"{format_word(word)} {cosine:.2f}" for word, cosine in moves.furthest.items())
    OUT.print(
        f"Cosine of a word with itself in version {since}: {moves.median:.3f} (median), "
        f"{moves.percentile_1:.3f} (first percentile); frequent words that moved furthest: {furthest}."
    )


def _print_fields(values: dict[str, Any], indent: str = "") -> None:
    for name, value in values.items():
        if isinstance(value, dict):
            OUT.print(f"{indent}{name}:")
            _print_fields(value, indent + "  ")
        else:
            OUT.print(f"{indent}{name}: {value:,}" if type(value) is int else f"{indent}{name}: {value}")


def _print_empty_words(number: int) -> None:
    if number:
        verb = "has" if number == 1 else "have"
        OUT.print(f"{format_count(number, 'word')} {verb} no context: the values are zeros.")
