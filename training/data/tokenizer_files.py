"""Tokenizers as files of Hugging Face's `tokenizer.json`, and a tokenizer to which all text is text."""

import json

from tokenizers import Tokenizer

from bitcipher import storage
from bitcipher.errors import BitcipherError


def load_tokenizer(path: str) -> Tokenizer:
    """The tokenizer of a `tokenizer.json`, by path or URI, with truncation and padding off.

    Raises:
        BitcipherError: if there is no such file, or it is no tokenizer.
    """
    with storage.reading(path) as stream:
        content = stream.read()
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the Rust library raises plain Exception
        raise BitcipherError(f"{path} is not a Hugging Face tokenizer.json: {error}.") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, path: str) -> None:
    """Write a tokenizer as `tokenizer.json`; the same tokenizer gives the same bytes.

    Raises:
        BitcipherError: if the file cannot be written.
    """
    with storage.writing(path) as stream:
        stream.write(tokenizer_json(tokenizer))


def tokenizer_json(tokenizer: Tokenizer) -> bytes:
    """The content of `tokenizer.json`."""
    return tokenizer.to_str(pretty=True).encode()


def vocabulary_size(tokenizer: Tokenizer) -> int:
    """How many rows a table for all ids needs: one more than the highest, since a vocabulary may have gaps."""
    return max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1


def text_only(tokenizer: Tokenizer) -> Tokenizer:
    """A copy that finds no special tokens in text: `</s>` in a document is four letters, not its end.

    Encode with `add_special_tokens=False`. The copy is for encoding alone: it calls special tokens by other names.
    """
    content = json.loads(tokenizer.to_str())
    added = [token for token in content["added_tokens"] if token["special"]]
    # The library's switch keeps it from looking for special tokens before a text is cut up, but a model may have them
    # among its pieces too: Unigram gives them the best score of all. No piece of text holds a space when it gets there.
    hidden = {token["content"]: f" {token['content']} " for token in added}
    for token in added:
        token["content"] = hidden[token["content"]]
    model = content["model"]
    if isinstance(model["vocab"], dict):
        model["vocab"] = {hidden.get(piece, piece): number for piece, number in model["vocab"].items()}
    else:
        model["vocab"] = [[hidden.get(piece, piece), score] for piece, score in model["vocab"]]
    if model.get("unk_token") in hidden:
        model["unk_token"] = hidden[model["unk_token"]]
    copy = Tokenizer.from_str(json.dumps(content))
    copy.encode_special_tokens = True
    copy.no_truncation()
    copy.no_padding()
    return copy
