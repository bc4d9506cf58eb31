"""Reader and writer of `tokenizer.json`, and copies of tokenizers that encode names of special tokens as text."""

import json

from tokenizers import Tokenizer

from bitcipher.files import storage


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


def plain_text_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """Return a copy of a tokenizer that encodes names of special tokens as text: `</s>` in a document as 4 characters.

    Encode with `add_special_tokens=False`. Use the copy for encoding only, because its special tokens have other names.
    """
    content = json.loads(tokenizer.to_str())
    added = [token for token in content["added_tokens"] if token["special"]]
    # `encode_special_tokens` disables the search for special tokens in the text. But special tokens can also be pieces
    # of the model, and Unigram even prefers them. The model gets text without spaces, so it never matches the pieces
    # that are renamed here, because their names contain spaces.
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
