"""All of it in order: sources and a vocabulary to a folder of spans, their twin, and the accounting.

The accounting is written last, so a folder that has it is whole. What is done before is in a ledger.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.filter.accounting import account, kept_spans
from pipelines.filter.filter_stage import CONSTRAINED, UNCONSTRAINED, VOCABULARY, FilterStage, done_key
from pipelines.filter.options import FilterOptions
from pipelines.filter.vocabulary import count_vocabulary, read_vocabulary
from pipelines.ingest.content_hash import hash_sources, sha256
from pipelines.ingest.sources import Source, list_sources
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Row, Runtime, StageSpec
from pipelines.store.fingerprint import check_same
from pipelines.store.ledger import Ledger

FORMAT = "bitcipher-language/1"
ACCOUNTING = "accounting.json"

# While the folder is not whole: what is asked for, what is done, and words of each source.
_LEDGER, _WORDS, _ASKED = "ledger", "words", "language"


def filter_corpus(
    patterns: Sequence[str],
    vocabulary: str | None,
    out: str,
    options: FilterOptions,
    runtime: Runtime,
    progress: StageProgress,
) -> dict[str, Any]:
    """Keep of sources what is in a vocabulary; goes on where it was stopped, and does nothing where it is done.

    Args:
        patterns: files, folders or globs of the corpus.
        vocabulary: a file of words (see `bitcipher.word_filter.read_words`), or None for the `options.top` most
            frequent of the sources.
        out: the folder, which is new, or was made by the same call.
        options: how documents are cut, and what is kept.
        runtime: where sources are read; the same bytes come out of each.
        progress: where to show how far it is.

    Returns:
        The accounting, as it is in the folder.

    Raises:
        BitcipherError: if sources or vocabulary are missing or broken, nothing is in the vocabulary, or the folder
            holds something else.
    """
    if vocabulary is None and options.top is None:
        raise BitcipherError(
            "There is no vocabulary: name a file of words, or say how many of the most frequent to take."
        )
    out = storage.absolute(out)
    listed = list_sources(patterns, options.format)
    sources = hash_sources(listed, [], runtime)
    asked = _asked(sources, vocabulary, options)
    done = _find_done(out, asked)
    if done is not None:
        return done
    chosen = read_vocabulary(vocabulary, options.top) if vocabulary is not None else None
    ledger = _begin(out, asked)
    rows = [{"id": f"{number:05d}", "source": asdict(source)} for number, source in enumerate(sources)]
    if chosen is None:
        work = storage.join(out, _WORDS)
        chosen = count_vocabulary(rows, options, options.top, work, runtime, progress)
    with storage.writing(storage.join(out, VOCABULARY)) as stream:
        stream.write("".join(f"{word}\n" for word in sorted(chosen)).encode())
    entries = _filter(out, rows, options, ledger, runtime, progress)
    if list_sources(patterns, options.format) != listed:
        raise BitcipherError(
            "A source was changed while it was read: let it be finished, and filter into a new folder."
        )
    told = {
        "format": FORMAT,
        "options": asked,
        "vocabulary": {"words": len(chosen), "sha256": sha256(storage.join(out, VOCABULARY))},
        **account(entries),
    }
    _refuse_nothing(out, told)
    storage.write_json(storage.join(out, ACCOUNTING), told)
    _clear_work(out)
    return told


def _asked(sources: list[Source], vocabulary: str | None, options: FilterOptions) -> dict[str, Any]:
    """All that the folder depends on."""
    contents = storage.to_json({"sources": [[source.sha256, source.format] for source in sources]})
    words = None if vocabulary is None else sha256(vocabulary)
    return {**options.to_dict(), "vocabulary": words, "sources": hashlib.sha256(contents).hexdigest()}


def _find_done(out: str, asked: dict[str, Any]) -> dict[str, Any] | None:
    """The accounting of a folder that is whole."""
    uri = storage.join(out, ACCOUNTING)
    content = storage.read_bytes(uri)
    if content is None:
        return None
    told = storage.from_json(content, uri)
    _check_same(out, told.get("options", {}), asked)
    _clear_work(out)  # of a process that died between its last two steps
    return told


def _begin(out: str, asked: dict[str, Any]) -> Ledger:
    """The ledger of a folder that is new, or was begun in the same way."""
    ledger = Ledger(storage.join(out, _LEDGER))
    if ledger.find(_ASKED) is None and storage.list_files(out):
        raise BitcipherError(f"{out} is not empty, and was not made by filtering a corpus: choose another folder.")
    _check_same(out, ledger.record(_ASKED, asked), asked)
    return ledger


def _check_same(out: str, recorded: dict[str, Any], asked: dict[str, Any]) -> None:
    check_same(recorded, asked, out, "choose another folder, or remove it first")


def _filter(
    out: str, rows: list[Row], options: FilterOptions, ledger: Ledger, runtime: Runtime, progress: StageProgress
) -> list[Row]:
    """The entries of all sources in order; those that the ledger has are not read again."""
    entries = ledger.entries("filter/")
    sizes = {row["id"]: row["source"]["size"] for row in rows}
    bar = progress.begin("filter", sum(sizes.values()))
    progress.advance(bar, sum(sizes[row["id"]] for row in rows if done_key(row["id"]) in entries), "")
    stage = StageSpec("filter", FilterStage, {"out": out, "ledger": ledger.uri, "options": options})
    for result in runtime.stream(stage, [row for row in rows if done_key(row["id"]) not in entries]):
        entries[done_key(result["name"])] = result
        spans = sum(kept_spans(entry["counts"]) for entry in entries.values())
        progress.advance(bar, sizes[result["name"]], f"{len(entries):,} of {len(rows):,} sources, {spans:,} spans")
    progress.end(bar)
    return [entries[done_key(row["id"])] for row in rows]


def _refuse_nothing(out: str, told: dict[str, Any]) -> None:
    """Leave nothing behind where nothing is kept."""
    if kept_spans(told["total"]) == 0:
        for name in (VOCABULARY, CONSTRAINED, UNCONSTRAINED):
            storage.remove(storage.join(out, name))
        _clear_work(out)
        often = ", ".join(list(told["total"]["unknown_words"])[:10])
        keeps_out = f"the words that keep most out are {often}" if often else "the documents are too short"
        raise BitcipherError(
            f"Nothing of the sources is in the vocabulary of {told['vocabulary']['words']:,} words: {keeps_out}."
        )


def _clear_work(out: str) -> None:
    for name in (_WORDS, _LEDGER):
        storage.remove(storage.join(out, name))
    for name in storage.list_files(out, unfinished=True):
        if name.endswith(storage.UNFINISHED):
            storage.remove(storage.join(out, name))
