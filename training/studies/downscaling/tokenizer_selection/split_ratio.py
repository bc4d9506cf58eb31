"""Word-split ratio: tokens per word over a sample of a text."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappush, heapreplace

from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from training.data.counter_rng import derive_key
from training.data.tokenizer_files import plain_text_tokenizer

# Maximum number of words of an example: the length of spans in Deshpande et al. (2023), section 3.2.
EXAMPLE_WORDS = 110
# Number of examples per encoding batch. Small batches save memory: an encoding takes hundreds of bytes per token.
BATCH = 256


def draw_examples(documents: Iterable[str], number: int) -> list[str]:
    """Return a sample of examples without replacement, drawn by a hash of the text of each example.

    An example consists of up to 110 consecutive words of a document, joined by spaces. The sample and its order do not
    depend on the order of the documents. Equal examples count once.

    Args:
        documents: texts, read once; only the drawn examples are in memory.
        number: maximum number of examples, at least 1.

    Raises:
        BitcipherError: if all documents are empty, or one is not valid Unicode.
    """
    # Heap of the examples with the smallest keys. Keys are negated, so the first entry has the largest key.
    drawn: list[tuple[int, str]] = []
    keys: set[int] = set()
    for example in _examples(documents):
        key = derive_key("word-split ratio", example)
        if key in keys:
            continue
        if len(drawn) < number:
            heappush(drawn, (-key, example))
        elif key < -drawn[0][0]:
            keys.remove(-heapreplace(drawn, (-key, example))[0])
        else:
            continue
        keys.add(key)
    if not drawn:
        raise BitcipherError("There is no text to measure tokenizers on; all documents are empty.")
    return [example for _, example in sorted(drawn, reverse=True)]


def _examples(documents: Iterable[str]) -> Iterator[str]:
    for document in documents:
        words = document.split()
        for start in range(0, len(words), EXAMPLE_WORDS):
            example = " ".join(words[start : start + EXAMPLE_WORDS])
            try:
                example.encode()
            except UnicodeEncodeError:
                raise BitcipherError(
                    "A text to measure tokenizers on is not valid Unicode (it has half a surrogate pair) and begins "
                    f"{example[:40]!a}; correct or remove it."
                ) from None
            yield example


def count_words(examples: Iterable[str]) -> int:
    """Return the number of words, separated by white space."""
    return sum(len(example.split()) for example in examples)


def split_ratio(tokenizer: Tokenizer, examples: Sequence[str]) -> float:
    """Return the word-split ratio (Deshpande et al. 2023, section 3.3): tokens per word separated by white space.

    The tokens and the words of all examples are counted together. Special tokens are not counted.

    Args:
        tokenizer: any tokenizer.
        examples: texts, as returned by `draw_examples`.
    """
    encoder = plain_text_tokenizer(tokenizer)
    tokens = 0
    for start in range(0, len(examples), BATCH):
        batch = list(examples[start : start + BATCH])
        tokens += sum(len(encoding) for encoding in encoder.encode_batch_fast(batch, add_special_tokens=False))
    return tokens / count_words(examples)
