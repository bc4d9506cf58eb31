"""Tokenizer of a Hugging Face `tokenizer.json`, for vectors of the tokens of a language model."""

import hashlib
import json

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from bitcipher.counts.tokenized_shard import TokenizedShard
from bitcipher.errors import BitcipherError, first_line
from bitcipher.files import storage

# Number of characters encoded at a time. Small batches save memory: an encoding takes hundreds of bytes per token.
BATCH_CHARACTERS = 1 << 20

# Words that hardly any vocabulary has (a rune, a hieroglyph), to find tokenizers without a token for such words.
_UNKNOWN = "ᚠ 𓀀"

# Text whose tokens show whether two releases of the library apply a tokenizer alike: cases, accents, digits, scripts,
# marks and spaces.
_PROBE = (
    "The naïve café's 1,234.56 state-of-the-art CAN'T.  Ｆｕｌｌ ﬁne Straße İstanbul e\u0301 κόσμος мир سلام שלום "
    "你好世界 かな 한국어 हिन्दी ไทย 👩‍💻 #tag @user https://example.com/a?b=c\tend…"
)

# Maximum number of ids without a token, above the number of tokens. Every id has a row in an embedding, so a file with
# one very high id would need any amount of memory. Real files have gaps of at most some thousand ids.
MAX_UNUSED_IDS = 1 << 16


class HuggingFaceTokenizer:
    """Tokenizer of a `tokenizer.json`, without special tokens, truncation and padding.

    Args:
        uri: path or URI of the `tokenizer.json`.

    Raises:
        BitcipherError: if the file is missing, is not a tokenizer, or has too high ids.
    """

    def __init__(self, uri: str):
        self._tokenizer = load_tokenizer(uri)
        size = vocab_size(self._tokenizer)
        # Ids without a token get an empty string, so that the other ids do not change.
        tokens = [self._tokenizer.id_to_token(number) for number in range(size)]
        self._words = pa.array([token if token is not None else "" for token in tokens], pa.large_string())

    def tokenize(self, documents: pa.LargeStringArray, in_part: bool = False) -> TokenizedShard:
        """Return the tokens of all documents, also if `in_part`."""
        ids: list[np.ndarray] = []
        batch: list[str] = []
        size = 0
        for document in documents:
            batch.append(document.as_py())
            size += len(batch[-1])
            if size >= BATCH_CHARACTERS:
                ids.extend(self._encode(batch))
                batch, size = [], 0
        ids.extend(self._encode(batch))
        ends = np.cumsum([len(row) for row in ids], dtype=np.int64)
        return TokenizedShard(self._words, np.concatenate([np.empty(0, np.int32), *ids]), ends)

    def _encode(self, batch: list[str]) -> list[np.ndarray]:
        encodings = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        return [np.array(encoding.ids, np.int32) for encoding in encodings]


def output_digest(uri: str) -> str:
    """Return the SHA-256 of the tokens that a tokenizer gives for a fixed text.

    Raises:
        BitcipherError: if the file is missing, or is not a tokenizer.
    """
    encoding = load_tokenizer(uri).encode(_PROBE, add_special_tokens=False)
    return hashlib.sha256(json.dumps([encoding.ids, encoding.tokens]).encode()).hexdigest()


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
