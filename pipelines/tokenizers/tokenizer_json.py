"""Reader of Hugging Face's `tokenizer.json`. It loads no numba, because options of training are checked with it."""

from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError, first_line
from bitcipher.files import storage

# Words that hardly any vocabulary has (a rune, a hieroglyph), to find tokenizers without a token for such words.
_UNKNOWN = "ᚠ 𓀀"

# Maximum number of ids without a token, above the number of tokens. Every id has a row in an embedding, so a file with
# one very high id would need any amount of memory. Real files have gaps of at most some thousand ids.
MAX_UNUSED_IDS = 1 << 16


def load_tokenizer(uri: str) -> Tokenizer:
    """Return a tokenizer without truncation and padding.

    Raises:
        BitcipherError: if the file is missing, is not a tokenizer, or has too high ids.
    """
    with storage.reading(uri) as stream:
        content = stream.read()
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the Rust library raises plain Exception
        raise BitcipherError(f"{uri} is not a Hugging Face tokenizer.json: {error}.") from None
    size, tokens = vocab_size(tokenizer), tokenizer.get_vocab_size(with_added_tokens=True)
    if size > 2 * tokens + MAX_UNUSED_IDS:
        raise BitcipherError(
            f"{uri} has {tokens:,} tokens, but their highest id is {size - 1:,}, and each id up to it needs a row of "
            "an embedding: number the tokens without gaps."
        )
    tokenizer.no_truncation()
    tokenizer.no_padding()
    try:
        tokenizer.encode(_UNKNOWN, add_special_tokens=False)
    except Exception as error:
        raise BitcipherError(f"The tokenizer {uri} cannot encode unknown characters: {first_line(error)}.") from None
    return tokenizer


def vocab_size(tokenizer: Tokenizer) -> int:
    """Return the highest id plus one. An embedding needs that many rows, even if some ids below are not used."""
    return max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1
