"""Word-split ratio: into how many tokens a tokenizer cuts a word, over a sample of a text."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappush, heapreplace

from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from training.counter_rng import derive_key
from training.data import plain_text_tokenizer

# Words of an example at most: a span of the paper's (section 3.2), so that a book is no heavier than an article.
EXAMPLE_WORDS = 110
# Examples are encoded a few at a time: an encoding takes some hundred bytes a token.
BATCH = 256


def draw_examples(documents: Iterable[str], number: int) -> list[str]:
    """Some examples of documents, drawn without replacement by a hash of each example's own text.

    An example is a run of 110 words of a document, or what is left of it, with one space between words. Which ones are
    drawn, and in which order they come back, depends neither on the order of documents nor on how they are spread over
    files; an example that occurs several times is one.

    Args:
        documents: read once; only what is drawn is kept in memory.
        number: of examples, 1 or more; where there are fewer, all are taken.

    Raises:
        BitcipherError: if there is not one word, or a document is no valid Unicode.
    """
    # A heap whose first entry is the one to go next: that of the greatest key, since keys stand there negated.
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
        raise BitcipherError("There is no text to measure tokenizers on: all documents are empty.")
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
                    f"{example[:40]!a}: mend it or leave it out."
                ) from None
            yield example


def count_words(examples: Iterable[str]) -> int:
    """How many words there are, white space between them."""
    return sum(len(example.split()) for example in examples)


def split_ratio(tokenizer: Tokenizer, examples: Sequence[str]) -> float:
    """Word-split ratio (section 3.3): tokens for each word, where words are separated by white space.

    All tokens of all examples over all their words. Tokens that a tokenizer adds to a text are not counted.

    Args:
        tokenizer: any.
        examples: as of `draw_examples`.
    """
    encoder = plain_text_tokenizer(tokenizer)
    tokens = 0
    for start in range(0, len(examples), BATCH):
        batch = list(examples[start : start + BATCH])
        tokens += sum(len(encoding) for encoding in encoder.encode_batch_fast(batch, add_special_tokens=False))
    return tokens / count_words(examples)
