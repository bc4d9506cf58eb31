"""Training and selection of a tokenizer for a corpus."""

import hashlib
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.records import FROM_LIST, Count, Record, Strings
from bitcipher.redaction import redact
from pipelines.ingest.content_hash import hash_sources, sha256
from pipelines.ingest.documents import read_all_documents
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.sources import Source, compression_of
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.store.job_folder import FolderKind
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.data.tokenizer_files import save_tokenizer
from training.data.train_tokenizer import train_tokenizer
from training.studies.downscaling.tokenizer_selection.reference_words import (
    ReferenceWords,
    read_reference_words,
    reference_words,
)
from training.studies.downscaling.tokenizer_selection.references import load_reference
from training.studies.downscaling.tokenizer_selection.selection_rule import (
    TokenizerChoice,
    TokenizerScores,
    check_references,
    choose,
)
from training.studies.downscaling.tokenizer_selection.split_ratio import (
    EXAMPLE_WORDS,
    count_words,
    draw_examples,
    split_ratio,
)
from training.studies.downscaling.tokenizer_selection.subtoken_matching import count_subtokens, matching_score
from training.studies.downscaling.tokenizer_selection.table import format_table

FORMAT = "bitcipher-tokenizer-choice/1"
# Increment when the same text results in different tokenizers.
VERSION = 2

CHOICE = "choice.json"
CANDIDATES = "candidates"
# File with the inputs of all candidates, stored before the first candidate.
INPUTS = f"{CANDIDATES}/inputs.json"


Sizes = Annotated[tuple[int, ...], FROM_LIST]
Size = Annotated[int, Field(ge=1)]


class ChoiceOptions(Record):
    """Candidate tokenizers and the criteria for choosing among them."""

    sizes: dict[str, Sizes]
    """Candidate vocabulary sizes of each kind (see `candidate_sizes`)."""
    references: dict[str, str]
    """Path or URI of the reference tokenizer.json of each kind."""
    words: str | None = None
    """Path or URI of reference words; by default the 13 words that Deshpande et al. 2023 print."""
    examples: int = Field(5000, ge=1)
    """Number of examples to measure the word-split ratio on (Deshpande et al. 2023, section 3.3)."""
    lowercase: bool = False
    """Lowercase the text."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_references({kind: len(sizes) for kind, sizes in self.sizes.items()}, self.references)
        return self


class ChosenTokenizer(Record):
    """Kind and requested size of the chosen tokenizer."""

    kind: str
    size: Size


class DrawnExamples(Record):
    """Numbers of examples that the word-split ratio was measured on."""

    requested: Size
    """Requested number of examples."""
    drawn: Count
    """Number of examples that the sources have, at most the requested number."""
    words: Count
    """Number of words in all drawn examples."""


class StoredReference(Record):
    """Reference tokenizer of a kind."""

    uri: str
    """Path or URI of the tokenizer.json."""
    sha256: str
    """SHA-256 of the tokenizer.json."""


class StoredChoice(Record):
    """Result of a tokenizer selection; stored as `choice.json`."""

    format: Literal["bitcipher-tokenizer-choice/1"] = FORMAT
    chosen: ChosenTokenizer
    tokenizer_sha256: str
    """SHA-256 of the chosen tokenizer.json."""
    nearest: dict[str, Size]
    """Of each kind, the requested size of the tokenizer whose scores are closest to the reference."""
    examples: DrawnExamples
    words_of_an_example: Size
    """Maximum number of words of an example."""
    reference_words: dict[str, Strings]
    """Sub-tokens of each reference word."""
    reference_sub_tokens: Count
    """Number of sub-tokens of all reference words."""
    references: dict[str, StoredReference]
    rows: Annotated[tuple[TokenizerScores, ...], FROM_LIST]
    """All scored tokenizers and references."""
    inputs: dict[str, Any]
    """Inputs of all candidates: sources, reading options and lowercase."""


def choose_tokenizer(
    sources: list[Source], reading: ReadOptions, out: str, options: ChoiceOptions, progress: StageProgress
) -> str:
    """Train the missing tokenizers, score all of them, and write the chosen one.

    Args:
        sources: sources, as returned by `list_sources`; they are read once per tokenizer, and once for examples.
        reading: options of the document reader.
        out: path or URI of a directory: a new directory, or that of an earlier call with the same sources, `reading`
            and `options.lowercase`, whose tokenizers are kept.
        options: candidates and criteria.
        progress: progress display.

    Returns:
        The content of `table.md`.

    Raises:
        BitcipherError: if the directory has other content, or sources, words, references or sizes are invalid.
    """
    words = reference_words() if options.words is None else read_reference_words(options.words)
    references = {kind: load_reference(kind, uri) for kind, uri in options.references.items()}
    sources = hash_sources(sources, [], InProcessRuntime())
    inputs = {
        "version": VERSION,
        "sources": sorted([source.sha256, source.format + compression_of(source.uri)] for source in sources),
        "reading": reading.to_dict(),
        "lowercase": options.lowercase,
    }
    _check_inputs(out, inputs)
    examples = draw_examples(read_all_documents(sources, reading, "sample", progress), options.examples)

    def score(kind: str, size: int | None, tokenizer: Tokenizer) -> TokenizerScores:
        return TokenizerScores(
            kind=kind,
            size=size,
            split_ratio=split_ratio(tokenizer, examples),
            matching_score=matching_score(tokenizer, words),
            tokens=vocab_size(tokenizer),
        )

    rows = []
    for kind, sizes in options.sizes.items():
        for size in sizes:
            path = _candidate(out, kind, size)
            if not storage.exists(path):
                texts = read_all_documents(sources, reading, f"{kind} {size:,}", progress)
                tokenizer = train_tokenizer(texts, kind, size, lowercase=options.lowercase)
                _store_inputs(out, inputs)
                save_tokenizer(tokenizer, path)
            rows.append(score(kind, size, load_tokenizer(path)))
        if kind in references:
            rows.append(score(kind, None, references[kind]))
    choice = choose(rows)
    markdown = f"{format_table(rows, choice)}\n{_legend(choice, examples, words)}\n"
    _write(
        out,
        choice,
        markdown,
        {
            "examples": {"requested": options.examples, "drawn": len(examples), "words": count_words(examples)},
            "words_of_an_example": EXAMPLE_WORDS,
            "reference_words": words,
            "reference_sub_tokens": count_subtokens(words),
            "references": {
                kind: {"uri": redact(uri), "sha256": sha256(uri)} for kind, uri in options.references.items()
            },
            "rows": rows,
            "inputs": inputs,
        },
    )
    return markdown


def _candidate(out: str, kind: str, size: int) -> str:
    return storage.join(out, CANDIDATES, f"{kind}-{size}.json")


def _check_inputs(out: str, inputs: dict[str, Any]) -> None:
    stored = storage.read_bytes(storage.join(out, INPUTS))
    FolderKind("a choice of tokenizers", is_published=lambda _: stored is not None).check_usable(out)
    if stored not in (None, json_files.to_bytes(inputs)):
        raise _different_inputs(out)


def _store_inputs(out: str, inputs: dict[str, Any]) -> None:
    # Called after the first training, so that a command that fails in training leaves no files.
    if not storage.create(storage.join(out, INPUTS), json_files.to_bytes(inputs)):
        raise _different_inputs(out)


def _different_inputs(out: str) -> BitcipherError:
    return BitcipherError(
        f"{out} has tokenizers of other sources, or with other --format, --document, --field or --lowercase; choose "
        "another folder, or remove it first."
    )


def _legend(choice: TokenizerChoice, examples: list[str], words: ReferenceWords) -> str:
    return (
        f"Chosen: {choice.best.kind} of {choice.best.size:,} tokens (bold). Of the other kinds, the sizes closest "
        f"to their references are in italics. Word-split ratio: measured on {len(examples):,} examples with "
        f"{count_words(examples):,} words. ESMS (exact sub-token matching score): measured on {len(words):,} words "
        f"with {count_subtokens(words):,} sub-tokens."
    )


def _write(out: str, choice: TokenizerChoice, markdown: str, details: dict[str, Any]) -> None:
    """Write the chosen tokenizer, the table, and `choice.json` last."""
    chosen = choice.best
    content: Any = storage.read_bytes(_candidate(out, chosen.kind, chosen.size or 0))
    # An earlier choice must not remain next to a different tokenizer.
    storage.remove(storage.join(out, CHOICE))
    for name, text in (("tokenizer.json", content), ("table.md", markdown.encode())):
        with storage.writing(storage.join(out, name)) as stream:
            stream.write(text)
    stored = StoredChoice.parse(
        {
            "format": FORMAT,
            "chosen": {"kind": chosen.kind, "size": chosen.size},
            "tokenizer_sha256": hashlib.sha256(content).hexdigest(),
            "nearest": {row.kind: row.size for row in choice.by_kind},
            **details,
        }
    )
    json_files.write(storage.join(out, CHOICE), stored.to_dict())
