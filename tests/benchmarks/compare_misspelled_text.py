"""Accuracy of a masked language model on misspelled text, with its table and with byte embeddings.

compare_misspelled_text.py RUN NETWORK... --text DATA... --tuning-text DATA... --misspellings FILE...

RUN is a run of `bitcipher train` with a WordPiece tokenizer, and each NETWORK a folder of `bitcipher study
byte-embeddings align`. The masked words are the same in all columns and rows. The columns are:

- clean: the text as it is;
- misspelled: a share of the words that have a misspelling in the lists is misspelled;
- characters: a share of the characters of all words is replaced with random characters of the text, as in Rodriguez
  Perez et al. (2023), section IV.

The rows are:

- table: the model as it is, with a position per token;
- NETWORK, tokens: the vectors of all tokens come from the network;
- NETWORK, words: each word of several tokens has one position, with a vector from the network;
- NETWORK, words, fine-tuned: the same after fine-tuning of the network on other text, of which half is misspelled. The
  misspelled words are of other words than in the table.

The p-value is that of a paired t-test over the same batches with the first row. Run it with OMP_NUM_THREADS=1.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from misspellings import read_misspellings
from prepare import read_texts

from bitcipher.files.markdown import format_table
from training.evaluation.decoding.stored_model import open_model
from training.models.parts import input_embeddings
from training.studies.byte_embeddings.alignment import ByteEmbeddings, aligned_tokens
from training.studies.byte_embeddings.paired_accuracy import BatchAccuracy, format_p_value, paired_p_value
from training.studies.byte_embeddings.stored_embeddings import load_byte_embeddings
from training.studies.byte_embeddings.table_replacement import byte_table
from training.studies.byte_embeddings.whole_words import WordBatch, WordEncoder
from training.studies.byte_embeddings.word_tuning import score_words, tune_on_words

PASSAGE_WORDS = 24
MASKED = 0.15  # of the words of one token
BATCH = 16  # passages
MISSPELLED = (0.25, 0.5, 1.0)
REPLACED = (0.02, 0.05, 0.1)
TUNING_MISSPELLED = 0.5
LEARNING_RATE = 1e-4


class Passage(NamedTuple):
    """Consecutive words of a document, whether each is masked, and the seed of the noise."""

    words: list[str]
    is_masked: np.ndarray
    seed: int


Spell = Callable[[Passage], list[str]]
"""Returns the words of a passage with noise."""


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN", help="run of a masked objective")
    parser.add_argument("networks", nargs="+", metavar="NETWORK", help="folders of byte embeddings")
    parser.add_argument("--text", nargs="+", required=True, metavar="DATA", help="text of the table")
    parser.add_argument("--tuning-text", nargs="+", required=True, metavar="DATA", help="text of the fine-tuning")
    parser.add_argument("--misspellings", nargs="+", type=Path, required=True, metavar="FILE")
    parser.add_argument("--passages", type=int, default=1600, metavar="N", help="passages of the table; default: 1600")
    parser.add_argument("--steps", type=int, default=100, metavar="N", help="steps of the fine-tuning; default: 100")
    return parser.parse_args()


def split_misspellings(files: Sequence[Path], encoder: WordEncoder) -> list[dict[str, list[str]]]:
    """Return the misspellings of each word, of a random half of the words for the table and of the others."""
    spellings: dict[str, list[str]] = {}
    for pair in (pair for file in files for pair in read_misspellings(file)):
        if all(encoder.split(word) == [word] for word in pair):
            spellings.setdefault(pair.meant, []).append(pair.written)
    words = sorted(spellings)
    is_first = np.random.default_rng(0).random(len(words)) < 0.5
    return [
        {word: spellings[word] for word, first in zip(words, is_first, strict=True) if first == half}
        for half in (True, False)
    ]


def misspell(spellings: Mapping[str, list[str]], share: float) -> Spell:
    """Return the noise of misspelled words."""

    def spell(passage: Passage) -> list[str]:
        draws, choices = np.random.default_rng(passage.seed).random((2, len(passage.words)))
        return [
            spellings[word][int(choice * len(spellings[word]))] if word in spellings and draw < share else word
            for word, draw, choice in zip(passage.words, draws, choices, strict=True)
        ]

    return spell


def replace_characters(characters: Sequence[str], share: float) -> Spell:
    """Return the noise of replaced characters."""

    def spell(passage: Passage) -> list[str]:
        random = np.random.default_rng(passage.seed)
        return [
            "".join(
                characters[int(choice * len(characters))] if draw < share else old
                for old, draw, choice in zip(word, random.random(len(word)), random.random(len(word)), strict=True)
            )
            for word in passage.words
        ]

    return spell


def draw_passages(data: list[str], encoder: WordEncoder) -> Iterator[Passage]:
    """Yield a random passage of each document that is long enough, with a masked word at least."""
    random = np.random.default_rng(0)
    for text in read_texts(data):
        words = encoder.split(text)
        if len(words) < PASSAGE_WORDS:
            continue
        start = random.integers(len(words) - PASSAGE_WORDS + 1)
        chosen = words[start : start + PASSAGE_WORDS]
        is_masked = (random.random(PASSAGE_WORDS) < MASKED) & [len(encoder.pieces(word)) == 1 for word in chosen]
        if is_masked.any():
            yield Passage(chosen, is_masked, int(random.integers(2**32)))


def drop_long(passages: Iterable[Passage], spells: Sequence[Spell], encoder: WordEncoder, length: int) -> list[Passage]:
    """Return the passages that have at most `length` tokens with any noise."""
    return [
        each
        for each in passages
        if all(2 + sum(len(encoder.pieces(word)) for word in spell(each)) <= length for spell in spells)
    ]


def make_batches(passages: Sequence[Passage], spell: Spell, encoder: WordEncoder) -> Iterator[WordBatch]:
    """Yield batches of passages with noise."""
    for start in range(0, len(passages), BATCH):
        part = passages[start : start + BATCH]
        yield encoder.encode([each.words for each in part], [spell(each) for each in part], [e.is_masked for e in part])


def main() -> None:
    """Measure, and print the table."""
    arguments = parse_arguments()
    model, tokenizer = open_model(arguments.run)
    model.eval()
    table = input_embeddings(model).weight.detach()
    tokens, words = (WordEncoder(tokenizer, is_whole=is_whole) for is_whole in (False, True))
    ours, others = split_misspellings(arguments.misspellings, tokens)
    passages = list(islice(draw_passages(arguments.text, tokens), arguments.passages))
    tuning_spell = misspell(others, TUNING_MISSPELLED)
    noises = {"clean": misspell({}, 0)} | {f"misspelled {share:.0%}": misspell(ours, share) for share in MISSPELLED}
    letters = sorted({character for each in passages for word in each.words for character in word})
    noises |= {f"characters {share:.0%}": replace_characters(letters, share) for share in REPLACED}
    limit = model.config.max_position_embeddings
    passages = drop_long(passages, list(noises.values()), tokens, limit)
    tuning = islice(draw_passages(arguments.tuning_text, tokens), arguments.steps * BATCH)
    tuning_passages = drop_long(tuning, [tuning_spell], tokens, limit)

    def score(
        input_table: torch.Tensor, embeddings: ByteEmbeddings | None, encoder: WordEncoder
    ) -> list[BatchAccuracy]:
        columns = []
        for spell in noises.values():
            found = [
                score_words(model, input_table, embeddings, each) for each in make_batches(passages, spell, encoder)
            ]
            columns.append(BatchAccuracy(*np.array([(each.sum(), len(each)) for each in found], float).T))
        return columns

    rows = {"table": score(table, None, tokens)}
    for folder in arguments.networks:
        name, embeddings = Path(folder).name, load_byte_embeddings(folder)
        rows[f"{name}, tokens"] = score(byte_table(model, embeddings, aligned_tokens(tokenizer)), None, tokens)
        rows[f"{name}, words"] = score(table, embeddings, words)
        batches = make_batches(tuning_passages, tuning_spell, words)
        rows[f"{name}, words, fine-tuned"] = score(
            table, tune_on_words(model, embeddings, batches, LEARNING_RATE), words
        )
    print(describe(passages, noises))
    print(
        format_table(
            ["input embeddings", *noises], [[name, *format_row(rows["table"], row)] for name, row in rows.items()]
        )
    )


def format_row(own: Sequence[BatchAccuracy], row: Sequence[BatchAccuracy]) -> list[str]:
    """Return the cells of a row: accuracy in percent, and the p-value of the difference from the first row."""
    return [
        f"{found.accuracy:.1f}" + ("" if row is own else f" ({format_p_value(paired_p_value(first, found))})")
        for first, found in zip(own, row, strict=True)
    ]


def describe(passages: Sequence[Passage], noises: Mapping[str, Spell]) -> str:
    """Return the number of passages, and the share of words that each noise changes."""
    shares = []
    for name, spell in noises.items():
        changed = [old != new for each in passages for old, new in zip(each.words, spell(each), strict=True)]
        shares.append(f"{name}: {np.mean(changed):.1%}")
    return f"{len(passages):,} passages of {PASSAGE_WORDS} words. Changed words: {', '.join(shares)}.\n"


if __name__ == "__main__":
    main()
