"""Tokenizer files, and a tokenizer without special tokens in text."""

import json

from tokenizers import Tokenizer

from bitcipher import storage
from pipelines.tokenizers.huggingface import load_tokenizer

__all__ = ["load_tokenizer", "plain_text_tokenizer", "save_tokenizer", "tokenizer_json", "vocab_size"]


def save_tokenizer(tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer as `tokenizer.json`; the same tokenizer gives the same bytes.

    Raises:
        BitcipherError: if the file cannot be written.
    """
    with storage.writing(path) as stream:
        stream.write(tokenizer_json(tokenizer))


def tokenizer_json(tokenizer: Tokenizer) -> bytes:
    """Return the contents of `tokenizer.json`."""
    return tokenizer.to_str(pretty=True).encode()


def vocab_size(tokenizer: Tokenizer) -> int:
    """Return the number of rows of an embedding for all ids: the highest id plus one, as a vocabulary may have gaps."""
    return max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1


def plain_text_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """Return a copy that finds no special tokens in text: `</s>` in a document is four characters.

    Encode with `add_special_tokens=False`. Use the copy for encoding only: its special tokens have other names.
    """
    content = json.loads(tokenizer.to_str())
    added = [token for token in content["added_tokens"] if token["special"]]
    # `encode_special_tokens` disables the search for special tokens before a text is split. The model may have them as
    # pieces too, which Unigram even prefers. At that stage, text has no spaces, so pieces renamed with spaces are never
    # found.
    renamed = {token["content"]: f" {token['content']} " for token in added}
    for token in added:
        token["content"] = renamed[token["content"]]
    model = content["model"]
    if isinstance(model["vocab"], dict):
        model["vocab"] = {renamed.get(piece, piece): number for piece, number in model["vocab"].items()}
    else:
        model["vocab"] = [[renamed.get(piece, piece), score] for piece, score in model["vocab"]]
    if model.get("unk_token") in renamed:
        model["unk_token"] = renamed[model["unk_token"]]
    plain = Tokenizer.from_str(json.dumps(content))
    plain.encode_special_tokens = True
    plain.no_truncation()
    plain.no_padding()
    return plain
