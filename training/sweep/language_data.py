"""A study's text: the reduced language and its twin, a tokenizer for each, and their token shards."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.filter import FilterOptions, filter_corpus
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.sources import list_sources
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from training.data import TokenDataset, TokenizerOptions, load_tokenizer, vocab_size
from training.prepare import prepare_text
from training.recipe import TextOptions
from training.sweep.options import LANGUAGES, Study
from training.tokenizer_selection.choose_tokenizer import CHOICE, ChoiceOptions, choose_tokenizer


@dataclass(frozen=True)
class PreparedLanguage:
    """Text to train on and to be tested on, as token shards."""

    sources: tuple[str, ...]
    """The files to train on."""
    held_out: tuple[str, ...]
    """Those of the constrained development part."""
    tokenizer: str
    """Path of its tokenizer.json."""
    tokens: int
    """Of the tokenizer."""
    text: Path
    test: Path
    """The constrained test part, held out, in this language's tokens."""


def prepare_languages(
    study: Study, out: Path, runtime: Runtime, progress: StageProgress
) -> tuple[dict[str, Any], dict[str, PreparedLanguage]]:
    """The accounting of the reduced language, and the languages that models are trained on.

    Args:
        study: whose corpus, vocabulary and tokenizer they are made of.
        out: of the study; `language`, and `prepared` with token shards, are in it.
        runtime: where text is read.
        progress: where to show how far it is.
    """
    folder = out / "language"
    options = FilterOptions.parse({"format": study.format, **study.language}, "The study's language")
    choice = ChoiceOptions.parse(study.choice, "The study's choice") if study.choice else None
    accounting = filter_corpus(study.sources, study.vocabulary, str(folder), options, runtime, progress).to_dict()
    wanted = LANGUAGES if study.pretraining.unconstrained else LANGUAGES[:1]
    return accounting, {name: _prepare(study, choice, name, out, runtime, progress) for name in wanted}


def _prepare(
    study: Study, choice: ChoiceOptions | None, name: str, out: Path, runtime: Runtime, progress: StageProgress
) -> PreparedLanguage:
    def part(language: str, part: str) -> tuple[str, ...]:
        return (storage.join(str(out), "language", language, f"{part}-*.jsonl.gz"),)

    constrained, _ = LANGUAGES
    # Curves and test are always of the constrained language (appendix C.1).
    development, test = part(constrained, "development"), part(constrained, "test")
    wanted = study.tokenizer
    if choice is not None:
        chosen = out / "tokenizers" / name
        choose_tokenizer(list_sources(part(name, "train")), ReadOptions(), str(chosen), choice, progress)
        wanted = TokenizerOptions(path=str(chosen / "tokenizer.json"))
    train = TextOptions(sources=part(name, "train"), tokenizer=wanted, validation_sources=development)
    text = prepare_text(train, out / "prepared", runtime, progress)
    tokenizer = str(text / "tokenizer.json")
    # What is trained on there is of no use: a folder of shards has two parts.
    tested = TextOptions(sources=development, tokenizer=TokenizerOptions(path=tokenizer), validation_sources=test)
    prepared = PreparedLanguage(
        train.sources,
        train.validation_sources,
        tokenizer,
        vocab_size(load_tokenizer(tokenizer)),
        text,
        prepare_text(tested, out / "prepared", runtime, progress),
    )
    _check_parts(prepared, study.pretraining.max_position_embeddings)
    return prepared


def _check_parts(language: PreparedLanguage, positions: int) -> None:
    """Refuse before anything is trained what can be neither trained on nor tested on."""
    trained, tested = TokenDataset.open(str(language.text)), TokenDataset.open(str(language.test))
    parts = {"train": trained.train, "development": trained.validation, "test": tested.validation}
    for part, stream in parts.items():
        if len(stream) < positions:
            raise BitcipherError(
                f"The {part} part of the language has {len(stream):,} tokens, less than a sequence of {positions:,}: "
                "give more text, or another vocabulary, language.held_out_share or pretraining.max_position_embeddings."
            )


def tokenizers_compared(out: Path) -> tuple[dict[str, Any], ...]:
    """Rows of the choice of the constrained language's tokenizer, if there was one."""
    path = out / "tokenizers" / LANGUAGES[0] / CHOICE
    if not path.exists():
        return ()
    told = storage.read_json(str(path))
    return tuple(
        {
            "kind": row["kind"],
            "size": row["size"],
            "ratio": row["split_ratio"],
            "esms": row["matching_score"],
            "chosen": (row["kind"], row["size"]) == (told["chosen"]["kind"], told["chosen"]["size"]),
        }
        for row in told["rows"]
    )
