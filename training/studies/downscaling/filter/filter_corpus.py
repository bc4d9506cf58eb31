"""Corpus filter: from sources and a vocabulary to a folder of spans, a control sample and a manifest.

The manifest is written last, so a folder with a manifest is complete. Until then, a ledger records the finished
sources.
"""

import hashlib
from collections.abc import Sequence

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from pipelines.ingest.content_hash import hash_sources, sha256
from pipelines.ingest.sources import Source, check_target, list_sources
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime, StageSpec
from pipelines.store.fingerprint import Fingerprint, check_same
from pipelines.store.job_folder import FolderKind, job_ledger, list_job_ledgers
from pipelines.store.layout import LEASE, LEDGER
from pipelines.store.ledger import Ledger
from pipelines.store.removal import remove_below, remove_empty
from training.studies.downscaling.filter.filter_manifest import (
    FilterManifest,
    FilterVocabulary,
    SourceEntry,
    make_manifest,
)
from training.studies.downscaling.filter.filter_stage import (
    CONSTRAINED,
    FILTERED_SOURCES,
    UNCONSTRAINED,
    VOCABULARY,
    FilterInput,
    FilterStage,
)
from training.studies.downscaling.filter.options import FilterOptions, Level
from training.studies.downscaling.filter.vocabulary import count_vocabulary, read_vocabulary

MANIFEST = "accounting.json"

# Folder of the word counts of each source, which is removed when the corpus is complete, as the ledger is.
_WORDS = "words"

_ADVICE = "choose another folder, or remove it first"

FILTERED_CORPUS = FolderKind(
    "a filtered corpus",
    is_published=lambda folder: storage.exists(storage.join(folder, MANIFEST)),
    names=(VOCABULARY, CONSTRAINED, UNCONSTRAINED, LEDGER, _WORDS),
    entries=(FILTERED_SOURCES,),
    work=FILTERED_SOURCES,
    job_name="filter-job",
)


def filter_corpus(
    patterns: Sequence[str],
    vocabulary: str | None,
    out: str,
    options: FilterOptions,
    runtime: Runtime,
    progress: StageProgress,
) -> FilterManifest:
    """Keep the spans and sentences of a corpus whose words are all in a vocabulary.

    To resume an interrupted call, repeat it. If the folder is already complete, the call returns its manifest.

    Args:
        patterns: files, folders or globs of the corpus.
        vocabulary: file of words (see `word_filter.read_words`), or None for the `options.top` most frequent
            words of the sources.
        out: folder of the filtered corpus: a new folder, or that of an interrupted or finished call with the same
            arguments.
        options: options of the filter.
        runtime: runtime of the stages. All runtimes give the same bytes.
        progress: progress bars.

    Returns:
        The manifest.

    Raises:
        BitcipherError: if sources or vocabulary are missing or damaged, no span is in the vocabulary, the folder
            contains other files, or another call is running on it.
    """
    if vocabulary is None and options.top is None:
        raise BitcipherError(
            "There is no vocabulary: give a file of words by `--vocabulary`, or use the most frequent words by `--top`."
        )
    out = storage.absolute(out)
    check_target(patterns, out)
    listed = list_sources(patterns, options.format, progress.say, list_protocols=options.list_protocols)
    levels = _levels(listed, options)
    sources = hash_sources(listed, [], runtime)
    request = _fingerprint(sources, vocabulary, options, levels)
    finished = _find_finished(out, request)
    if finished is not None:
        return finished
    known_words = read_vocabulary(vocabulary, options.top) if vocabulary is not None else None
    FILTERED_CORPUS.check_usable(out)
    with FILTERED_CORPUS.leasing(out) as lease:
        ledger = job_ledger(out, FILTERED_CORPUS.start_job(out, 1, request, _ADVICE))
        inputs = [
            FilterInput(f"{number:05d}", source, levels.get(source.uri, options.level))
            for number, source in enumerate(sources)
        ]
        if known_words is None:
            assert options.top is not None  # checked above
            known_words = count_vocabulary(inputs, options, options.top, storage.join(out, _WORDS), runtime, progress)
        with storage.writing(storage.join(out, VOCABULARY)) as stream:
            stream.write("".join(f"{word}\n" for word in sorted(known_words)).encode())
        entries = _filter_sources(out, inputs, options, ledger, runtime, progress)
        if list_sources(patterns, options.format, list_protocols=options.list_protocols) != listed:
            raise BitcipherError("A source changed while it was read. When it is complete, filter into a new folder.")
        words = FilterVocabulary(words=len(known_words), sha256=sha256(storage.join(out, VOCABULARY)))
        manifest = make_manifest(request, words, entries)
        _check_not_empty(out, manifest)
        lease.check()
        json_files.write(storage.join(out, MANIFEST), manifest.to_dict())
        lease.discard()  # the folder is complete, so no other job follows
        _remove_work(out)
    remove_empty(storage.join(out, LEASE))
    return manifest


def _levels(sources: list[Source], options: FilterOptions) -> dict[str, Level]:
    """Return the levels of the sources that have one of their own, by URI.

    Raises:
        BitcipherError: if a path is none of the sources, or has two levels.
    """
    uris = {source.uri for source in sources}
    levels: dict[str, Level] = {}
    chosen: dict[Level, tuple[str, ...]] = {"spans": options.spans_only, "sentences": options.sentences_only}
    for level, patterns in chosen.items():
        if not patterns:
            continue
        for source in list_sources(patterns, options.format, list_protocols=options.list_protocols):
            if source.uri not in uris:
                raise BitcipherError(f"`{level}_only` names {source.uri}, which is not among the sources.")
            if levels.setdefault(source.uri, level) != level:
                raise BitcipherError(f"{source.uri} is in `spans_only` and in `sentences_only`; leave out one of them.")
    return levels


def _fingerprint(
    sources: list[Source], vocabulary: str | None, options: FilterOptions, levels: dict[str, Level]
) -> Fingerprint:
    """Return all values that determine the filtered corpus."""
    own = [[levels[source.uri]] if source.uri in levels else [] for source in sources]
    described = [[source.sha256, source.format, *level] for source, level in zip(sources, own, strict=True)]
    contents = hashlib.sha256(json_files.to_bytes({"sources": described})).hexdigest()
    values = {name: value for name, value in options.to_dict().items() if name not in ("spans_only", "sentences_only")}
    words = None if vocabulary is None else sha256(vocabulary)
    return {**values, "vocabulary": words, "sources": contents}


def _find_finished(out: str, request: Fingerprint) -> FilterManifest | None:
    """Return the manifest of a folder if it is complete."""
    uri = storage.join(out, MANIFEST)
    content = storage.read_bytes(uri)
    if content is None:
        return None
    manifest = FilterManifest.parse(json_files.parse(content, uri), uri)
    check_same(manifest.options, request, out, _ADVICE)
    # A process that died after it wrote the manifest leaves its ledger. Without one, the temporary folders are removed
    # already, and folders of their names are the user's.
    if FILTERED_CORPUS.find_job(out) is not None:
        _remove_work(out)
    elif any(ledger.keys(FILTERED_SOURCES) for ledger in list_job_ledgers(out)):  # it died while it removed the ledger
        remove_below(out, LEDGER)
    return manifest


def _filter_sources(
    out: str,
    inputs: list[FilterInput],
    options: FilterOptions,
    ledger: Ledger,
    runtime: Runtime,
    progress: StageProgress,
) -> list[SourceEntry]:
    """Return the entries of all sources in order; sources in the ledger are not read again."""
    entries = ledger.entries(FILTERED_SOURCES)
    sizes = {item.id: item.source.size for item in inputs}
    bar = progress.begin("filter", sum(sizes.values()), done=sum(sizes[name] for name in entries))
    spec = StageSpec("filter", FilterStage, {"out": out, "ledger": ledger.uri, "options": options})
    for result in runtime.stream(spec, [item for item in inputs if item.id not in entries]):
        name = result.value.name
        entries[name] = result.value
        spans = sum(entry.counts.constrained.total() for entry in entries.values())
        progress.advance(bar, sizes[name], f"{len(entries):,} of {len(inputs):,} sources, {spans:,} spans")
    progress.end(bar)
    return [entries[item.id] for item in inputs]


def _check_not_empty(out: str, manifest: FilterManifest) -> None:
    """Remove all files and raise an error if no span is kept."""
    if manifest.total.constrained.total() == 0:
        for name in (VOCABULARY, CONSTRAINED, UNCONSTRAINED):
            remove_below(out, name)
        _remove_work(out)
        frequent = ", ".join(list(manifest.total.unknown_words)[:10])
        reason = f"the most frequent unknown words are {frequent}" if frequent else "the documents are too short"
        raise BitcipherError(
            f"No span of the sources is in the vocabulary of {manifest.vocabulary.words:,} words: {reason}."
        )


def _remove_work(out: str) -> None:
    for name in storage.list_files(out, unfinished=True):
        if name.startswith((VOCABULARY, CONSTRAINED, UNCONSTRAINED, MANIFEST)) and name.endswith(storage.UNFINISHED):
            remove_below(out, name)
    remove_below(out, _WORDS)
    remove_below(out, LEDGER)  # last, because it shows that the other files are those of this corpus
