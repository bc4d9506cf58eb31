"""Exact sub-token matching score (ESMS): agreement of a tokenizer's splits with morphemes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tokenizers import Encoding, Tokenizer

from training.data.tokenizer_files import plain_text_tokenizer

# Marker of a space in Unigram tokenizers.
METASPACE = "▁"


def split_words(tokenizer: Tokenizer, words: Iterable[str]) -> list[list[str]]:
    """Split words into the parts of their tokens, as within a sentence.

    Each word follows a space, because byte-level BPE includes the space in the word's first token, as in running text.
    The parts are found by character offsets, so they contain no markers (Ġ, ## and ▁).

    >>> from training.data.train_tokenizer import train_tokenizer
    >>> split_words(train_tokenizer(["cook cook", "sing ring king"], "wordpiece", 30), ["cooking", "cook"])
    [['cook', 'ing'], ['cook']]

    Returns:
        The parts of each word, one per token. A token that is only the space has no part, and the tokens of the bytes
        of one letter have one part.
    """
    texts = [f" {word}" for word in words]
    encodings = plain_text_tokenizer(tokenizer).encode_batch(texts, add_special_tokens=False)
    return [_parts(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]


def _parts(text: str, encoding: Encoding) -> list[str]:
    parts = []
    covered = 0
    for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
        # A marker token has the offsets of the next letter, and all byte tokens of a letter have the same offsets.
        if token != METASPACE and (part := text[max(start, covered) : end].strip()):
            parts.append(part)
            covered = end
    return parts


def count_matches(split: Sequence[str], reference: Sequence[str]) -> int:
    """Return the number of parts that two splits have in common, as multisets.

    The number is 0 if `split` has only one part, or only single letters.

    >>> count_matches(["con", "cent", "ric"], ["con", "centr", "ic"])
    1
    """
    if len(split) == 1 or all(len(part) == 1 for part in split):
        return 0
    return (Counter(split) & Counter(reference)).total()


def matching_score(tokenizer: Tokenizer, words: Mapping[str, Sequence[str]]) -> float:
    """Return the exact sub-token matching score (Deshpande et al. 2023, section 3.3, Table 6), between 0 and 1.

    The score is the number of matches of all words divided by the number of sub-tokens of all reference splits (265
    sub-tokens for the paper's 127 words).

    Args:
        tokenizer: any tokenizer.
        words: lowercase words with their sub-tokens, as returned by `reference_words`.
    """
    splits = split_words(tokenizer, words)
    return sum(map(count_matches, splits, words.values())) / count_subtokens(words)


def count_subtokens(words: Mapping[str, Sequence[str]]) -> int:
    """Return the total number of reference sub-tokens."""
    return sum(len(reference) for reference in words.values())
