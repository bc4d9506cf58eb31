"""Tasks in a small vocabulary, as the downscaling study has them (Deshpande et al. 2023, sections 3.1 and 3.2)."""

from collections.abc import Set
from dataclasses import replace

from bitcipher.errors import BitcipherError
from bitcipher.word_filter import extract_words
from training.tasks.base import Part
from training.tasks.sentences import SentenceExample, SentenceTask


def filter_by_vocabulary(task: SentenceTask, words: Set[str], share: float = 1.0) -> SentenceTask:
    """The task with those examples alone whose words are known.

    The words of an example are those of all its sentences, see `bitcipher.word_filter.extract_words`. A remark tells
    how many examples of each part remain.

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


def _is_known(example: SentenceExample, words: Set[str], share: float) -> bool:
    own = [word for text in (example.first, example.second) if text for word in extract_words(text)]
    return not own or sum(word in words for word in own) / len(own) >= share
