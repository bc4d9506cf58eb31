"""Tokenizer of a Hugging Face `tokenizer.json`, for vectors of the tokens of a language model."""

import hashlib
import json

import numpy as np
import pyarrow as pa

from bitcipher.counts.tokenized_shard import TokenizedShard
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size

# Number of characters encoded at a time. Small batches save memory: an encoding takes hundreds of bytes per token.
BATCH_CHARACTERS = 1 << 20

# Text whose tokens show whether two releases of the library apply a tokenizer alike: cases, accents, digits, scripts,
# marks and spaces.
_PROBE = (
    "The naïve café's 1,234.56 state-of-the-art CAN'T.  Ｆｕｌｌ ﬁne Straße İstanbul e\u0301 κόσμος мир سلام שלום "
    "你好世界 かな 한국어 हिन्दी ไทย 👩‍💻 #tag @user https://example.com/a?b=c\tend…"
)


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
