"""Exact sub-token matching score (ESMS): whether a tokenizer cuts words where their morphemes meet."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tokenizers import Encoding, Tokenizer

from training.data import plain_text_tokenizer

# How a Unigram tokenizer writes a space.
METASPACE = "▁"


def split_words(tokenizer: Tokenizer, words: Iterable[str]) -> list[list[str]]:
    """The parts of words that their tokens stand for, as they are within a sentence.

    A word comes behind a space, so that byte-level BPE, to which the space is part of the word, takes the tokens
    that it takes in running text. What a token stands for is told by its place in the word: hence nothing is left of
    the markers of kinds, Ġ, ## and ▁.

    >>> from training.data import train_tokenizer
    >>> split_words(train_tokenizer(["cook cook", "sing ring king"], "wordpiece", 30), ["cooking", "cook"])
    [['cook', 'ing'], ['cook']]

    Returns:
        For each word one part a token; tokens for the space alone, and for further bytes of a letter, have none.
    """
    texts = [f" {word}" for word in words]
    encodings = plain_text_tokenizer(tokenizer).encode_batch(texts, add_special_tokens=False)
    return [_parts(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]


def _parts(text: str, encoding: Encoding) -> list[str]:
    parts = []
    covered = 0
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        # A lone marker is said to stand for the letter behind it; and so is each byte of a letter.
        if token != METASPACE and (part := text[max(start, covered) : end].strip()):
            parts.append(part)
            covered = end
    return parts


def matches(split: Sequence[str], reference: Sequence[str]) -> int:
    """How many parts of a split occur in the reference split, each as often as there at most.

    A word left whole has none, nor has one that is cut into single letters, whatever the reference is (SPEC section 7).

    >>> matches(["con", "cent", "ric"], ["con", "centr", "ic"])
    1
    """
    if len(split) == 1 or all(len(part) == 1 for part in split):
        return 0
    return (Counter(split) & Counter(reference)).total()


def matching_score(tokenizer: Tokenizer, words: Mapping[str, Sequence[str]]) -> float:
    """Exact sub-token matching score (section 3.3, Table 6; SPEC section 7), 0 to 1.

    The matches of all words over the sub-tokens of all reference splits: those of the paper's 127 words are 265.

    Args:
        tokenizer: any.
        words: with their sub-tokens, in lower case, as of `reference_words`.
    """
    splits = split_words(tokenizer, words)
    return sum(map(matches, splits, words.values())) / count_subtokens(words)


def count_subtokens(words: Mapping[str, Sequence[str]]) -> int:
    """How many sub-tokens there are to be matched."""
    return sum(len(reference) for reference in words.values())
