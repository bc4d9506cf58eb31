"""Filtering of tasks by a small vocabulary (Deshpande et al. 2023, sections 3.1 and 3.2)."""

from collections.abc import Set
from dataclasses import replace

from bitcipher.errors import BitcipherError
from pipelines.clean.word_filter import extract_words
from training.tasks.base import Part
from training.tasks.sentences import SentenceExample, SentenceTask


def filter_by_vocabulary(task: SentenceTask, words: Set[str], share: float = 1.0) -> SentenceTask:
    """Return the task with only those examples whose words are in a vocabulary.

    The words of an example are the words of all its sentences, see `word_filter.extract_words`. A remark
    gives the number of remaining examples of each split.

    Args:
        task: sentence task to filter.
        words: the vocabulary: lowercase words without apostrophes, such as whats and dont.
        share: minimum fraction of an example's words that are in the vocabulary. With 1, as in the study, all words
            must be in the vocabulary.

    Raises:
        BitcipherError: if the share is not above 0 and at most 1, or a non-empty split has no remaining example.
    """
    if not 0 < share <= 1:
        raise BitcipherError(f"`share` must be above 0 and at most 1, got {share}.")
    parts: dict[Part, tuple[SentenceExample, ...]] = {"train": task.train, "validation": task.validation}
    kept = {part: tuple(e for e in examples if _is_known(e, words, share)) for part, examples in parts.items()}
    for part, examples in parts.items():
        if examples and not kept[part]:
            raise BitcipherError(
                f"None of the {len(examples):,} examples of {task.name} ({part}) has only words of the vocabulary; "
                "use more words."
            )
    counts = " and ".join(f"{len(kept[p]):,} of {len(parts[p]):,} examples ({p})" for p in parts if parts[p])
    remark = f"{task.name}: {counts} remain, in a vocabulary of {len(words):,} words."
    return replace(task, train=kept["train"], validation=kept["validation"], remarks=(*task.remarks, remark))


def _is_known(example: SentenceExample, words: Set[str], share: float) -> bool:
    own = [word for text in (example.first, example.second) if text for word in extract_words(text)]
    return not own or sum(word in words for word in own) / len(own) >= share
