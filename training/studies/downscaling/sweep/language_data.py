"""Text of a study: the filtered language and its control sample, a tokenizer for each, and token shards."""

from dataclasses import dataclass
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.sources import list_sources
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.data.token_streams import TokenDataset
from training.data.tokenizer_options import TokenizerOptions
from training.runs.prepare.text import prepare_text
from training.runs.recipe import TextOptions
from training.studies.downscaling.filter.filter_corpus import filter_corpus
from training.studies.downscaling.filter.filter_manifest import FilterCounts
from training.studies.downscaling.filter.options import FilterOptions
from training.studies.downscaling.sweep.options import LANGUAGES, Study
from training.studies.downscaling.tokenizer_selection.choose_tokenizer import (
    CHOICE,
    ChoiceOptions,
    StoredChoice,
    choose_tokenizer,
)


@dataclass(frozen=True)
class PreparedLanguage:
    """Training and test text of a language, as token shards."""

    sources: tuple[str, ...]
    """Files of the training split."""
    held_out: tuple[str, ...]
    """Files of the constrained development split."""
    tokenizer: str
    """Path of its tokenizer.json."""
    vocab_size: int
    """Highest id of the tokenizer plus one."""
    text: str
    """Folder of token shards of the training split; their validation split is the constrained development split."""
    test: str
    """Folder of token shards whose validation split is the constrained test split."""


def prepare_languages(
    study: Study, out: str, runtime: Runtime, progress: StageProgress
) -> tuple[dict[str, Any], dict[str, PreparedLanguage]]:
    """Filter the corpus, and return the filter's numbers of examined and kept texts, and the text of each language.

    Args:
        study: study with the corpus, vocabulary and tokenizer.
        out: path or URI of the study; the text is in `language`, token shards are in `prepared`.
        runtime: runtime that reads text.
        progress: progress display.
    """
    folder = storage.join(out, "language")
    options = FilterOptions.parse({"format": study.format, **study.language}, "The study's language")
    choice = ChoiceOptions.parse(study.choice, "The study's choice") if study.choice else None
    manifest = filter_corpus(study.sources, study.vocabulary, folder, options, runtime, progress)
    _check_counts(manifest.total)
    names = LANGUAGES if study.pretraining.unconstrained else LANGUAGES[:1]
    return manifest.to_dict(), {name: _prepare(study, choice, name, out, runtime, progress) for name in names}


def _check_counts(counts: FilterCounts) -> None:
    """Check that every split has text. Splits are drawn by documents, so that of a few documents can be empty."""
    for split, number in counts.constrained.to_dict().items():
        if not number:
            raise BitcipherError(
                f"The {split} split of the language is empty (documents read: {counts.documents.total():,}); use more "
                "documents, or set another vocabulary, language.document or language.held_out_share."
            )


def _prepare(
    study: Study, choice: ChoiceOptions | None, name: str, out: str, runtime: Runtime, progress: StageProgress
) -> PreparedLanguage:
    def split_files(language: str, split: str) -> tuple[str, ...]:
        return (storage.join(out, "language", language, f"{split}-*.jsonl.gz"),)

    constrained, _ = LANGUAGES
    # Curves and the test loss always use the constrained language (Deshpande et al. 2023, appendix C.1).
    development, test = split_files(constrained, "development"), split_files(constrained, "test")
    tokenizer_options = study.tokenizer
    if choice is not None:
        folder = storage.join(out, "tokenizers", name)
        choose_tokenizer(list_sources(split_files(name, "train")), ReadOptions(), folder, choice, progress)
        tokenizer_options = TokenizerOptions(path=storage.join(folder, "tokenizer.json"))
    train = TextOptions(sources=split_files(name, "train"), tokenizer=tokenizer_options, validation_sources=development)
    text = prepare_text(train, storage.join(out, "prepared"), runtime, progress)
    tokenizer = storage.join(text, "tokenizer.json")
    # The test split is the validation split of other token shards. Their training split, which must exist, is not used.
    test_text = TextOptions(sources=development, tokenizer=TokenizerOptions(path=tokenizer), validation_sources=test)
    prepared = PreparedLanguage(
        train.sources,
        train.validation_sources,
        tokenizer,
        vocab_size(load_tokenizer(tokenizer)),
        text,
        prepare_text(test_text, storage.join(out, "prepared"), runtime, progress),
    )
    _check_splits(prepared, study.pretraining.max_position_embeddings)
    return prepared


def _check_splits(language: PreparedLanguage, positions: int) -> None:
    """Check before training that every split has at least one sequence."""
    text, test = TokenDataset.open(language.text), TokenDataset.open(language.test)
    splits = {"train": text.train, "development": text.validation, "test": test.validation}
    for split, stream in splits.items():
        if len(stream) < positions:
            raise BitcipherError(
                f"The {split} split of the language has {len(stream):,} tokens, fewer than one sequence of "
                f"{positions:,}; use more text, or set another vocabulary, language.held_out_share "
                "or pretraining.max_position_embeddings."
            )


def read_tokenizer_rows(out: str) -> tuple[dict[str, Any], ...]:
    """Return the rows of the tokenizer selection of the constrained language; empty if there was no selection."""
    path = storage.join(out, "tokenizers", LANGUAGES[0], CHOICE)
    if not storage.exists(path):
        return ()
    choice = StoredChoice.read(path)
    return tuple(
        {
            "kind": row.kind,
            "size": row.size,
            "ratio": row.split_ratio,
            "esms": row.matching_score,
            "chosen": (row.kind, row.size) == (choice.chosen.kind, choice.chosen.size),
        }
        for row in choice.rows
    )
