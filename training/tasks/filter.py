"""Tasks in a small vocabulary, as the downscaling study has them (Deshpande et al. 2023, sections 3.1 and 3.2)."""

import csv
from collections.abc import Iterable, Set
from dataclasses import replace

from bitcipher import storage
from bitcipher.errors import BitcipherError
from training.tasks.contract import Part
from training.tasks.sentences import SentenceExample, SentenceTask

# What is left of don't, it's, you're, can't, I'd and she'll where the apostrophe cut them, as in the study's own code.
CONTRACTIONS = frozenset({"nt", "s", "re", "t", "d", "ll"})


def keep_known(task: SentenceTask, words: Set[str], share: float = 1.0) -> SentenceTask:
    """The task with those examples alone whose words are known.

    The words of an example are `words_of` all its sentences. A remark tells how many examples of each part remain.

    Args:
        task: any of sentences.
        words: in lower case, without apostrophes: whats, dont.
        share: of an example's words that must be among them; 1 as in the study, for all.

    Raises:
        BitcipherError: if the share is not above 0 and at most 1, or no example of a part that had some remains.
    """
    if not 0 < share <= 1:
        raise BitcipherError(f"The share of known words is {share}: it should be above 0 and at most 1.")
    parts: dict[Part, tuple[SentenceExample, ...]] = {"train": task.train, "validation": task.validation}
    kept = {part: tuple(e for e in examples if _is_known(e, words, share)) for part, examples in parts.items()}
    for part, examples in parts.items():
        if examples and not kept[part]:
            raise BitcipherError(f"None of the {len(examples):,} examples of {task.name} ({part}) is in these words.")
    counts = " and ".join(f"{len(kept[p]):,} of {len(parts[p]):,} examples ({p})" for p in parts if parts[p])
    remark = f"{task.name}: {counts} remain, in a vocabulary of {len(words):,} words."
    return replace(task, train=kept["train"], validation=kept["validation"], remarks=(*task.remarks, remark))


def words_of(text: str) -> list[str]:
    """The words of a sentence that must be known: between spaces, in lower case, letters alone.

    Digits and special characters are taken away (section 3.1), and what nothing is left of is no word. Words with
    capitals behind the first one are names and pass, as do `CONTRACTIONS`: so the study's own code has it.
    """
    written = [word for place, word in enumerate(text.split()) if place == 0 or word == word.lower()]
    letters = ("".join(letter for letter in word.lower() if letter.isalpha()) for word in written)
    return [word for word in letters if word and word not in CONTRACTIONS]


def read_words(uri: str) -> frozenset[str]:
    """The words of a file, in lower case: one a line, or the column `word` of a CSV, such as AO-CHILDES' frequencies.

    Characters that are not UTF-8, which that file has a few of, are replaced: no text has such words.

    Raises:
        BitcipherError: if the file is missing or holds no words.
    """
    with storage.reading(uri) as stream:
        lines = stream.read().decode(errors="replace").split("\n")
    has_header = bool(lines) and "word" in lines[0].split(",")[:-1]
    written: Iterable[str] = (row["word"] or "" for row in csv.DictReader(lines)) if has_header else lines
    words = frozenset(word.strip().lower() for word in written) - {""}
    if not words:
        raise BitcipherError(f"{uri} holds no words.")
    return words


def _is_known(example: SentenceExample, words: Set[str], share: float) -> bool:
    own = [word for text in (example.first, example.second) if text for word in words_of(text)]
    return not own or sum(word in words for word in own) / len(own) >= share
