"""Output about builds and vectors: what a version has, and what changed."""

from typing import TYPE_CHECKING

from bitcipher.sizes import format_size
from cluster.cli.display.console import (
    OUT,
    format_count,
    format_share,
    format_table_size,
    format_word,
    list_examples,
)
from cluster.cli.display.records import describe_reading, describe_records
from cluster.cli.display.tables import TextTable
from pipelines.builds.report import read_report
from pipelines.store.manifest import BasisState, BuildManifest, Drift, VectorMoves, VectorSizes, read_manifest

if TYPE_CHECKING:
    from pipelines.ingest.source_changes import SourceChanges

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
    table = TextTable("stage", "seconds", "CPU seconds", "tokens/s", "peak memory")
    for name, stage in report.stages.items():
        rate = f"{report.tokens / max(stage.seconds, 1e-9):,.0f}"
        costs = (f"{stage.seconds:.1f}", f"{stage.cpu_seconds:.1f}", rate, format_size(stage.peak_bytes))
        table.add_row(name, *costs)
    table.print()
    if manifest.drift:
        _print_drift(manifest.drift, manifest.drift_from)
        if manifest.basis:
            _print_basis(manifest.basis, manifest.version)
        if manifest.drift.vector_moves:
            _print_moves(manifest.drift.vector_moves, manifest.drift_from)
    own_vectors = manifest.vectors if manifest.has_own_vectors else None
    size = format_count(own_vectors.dimensions, "dimension") if own_vectors else "counts only"
    OUT.print(
        f"\n{format_count(manifest.documents, 'document')}, {format_count(manifest.tokens, 'token')}, "
        f"{format_count(manifest.vocabulary, 'word')}, "
        f"{size} in {report.seconds:.1f} s → {build}, version {manifest.version}"
    )
    is_limited = manifest.options.word_list is not None or manifest.options.max_vocab_size is not None
    if manifest.oov_tokens > MAX_OOV_SHARE * manifest.tokens and not is_limited:
        _print_unknown_tokens(manifest)
    if own_vectors:
        _print_empty_words(own_vectors.empty_words, manifest.oov_tokens)
    else:
        vectors_from = manifest.vectors_from.version if manifest.vectors_from else None
        OUT.print(describe_missing_vectors(build, manifest.version, vectors_from))
    records = manifest.records
    for line in filter(None, (describe_records(records), *describe_reading(records.decisions, records.textless))):
        OUT.print(line)


def _print_unknown_tokens(manifest: BuildManifest) -> None:
    OUT.print(
        f"{format_share(manifest.oov_tokens / manifest.tokens)} of the tokens are outside the vocabulary, counted as "
        "<oov>. If the text is small, lower `--min-count`. If its words are not separated by spaces, as in Chinese, "
        "Japanese or Thai, separate them first, for example with spaCy's tokenizer for the language, and build with "
        "`--tokenizer whitespace`."
    )


def print_changes(changes: "SourceChanges", replaced: bool) -> None:
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


def print_embedding(target: str, sizes: VectorSizes, oov_tokens: int) -> None:
    """Print the size of new vectors.

    Args:
        target: directory of the vectors.
        sizes: number of words and dimensions.
        oov_tokens: number of tokens outside the vocabulary.
    """
    OUT.print(f"{format_table_size(sizes.words, sizes.dimensions)} → {target}")
    _print_empty_words(sizes.empty_words, oov_tokens)


def describe_missing_vectors(build: str, version: int, vectors_from: int | None) -> str:
    """Return which vectors a version without vectors of its own has, and how to make new ones."""
    found = f"its vectors are those of version {vectors_from}" if vectors_from else "there are no vectors yet"
    return f"Version {version} has counts only; {found}. `bitcipher update {build} --vectors now` makes new ones."


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


def _print_empty_words(number: int, oov_tokens: int) -> None:
    """Print how many words have no context. Without tokens outside the vocabulary, one of them is <oov>."""
    if not oov_tokens:
        number -= 1
    if number > 0:
        verb = "has" if number == 1 else "have"
        OUT.print(f"{format_count(number, 'word')} {verb} no context: the values are zeros.")
