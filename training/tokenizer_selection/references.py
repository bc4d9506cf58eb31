"""Pre-trained tokenizers whose word-split ratio is to be met, from files; nothing comes from the network."""

from collections.abc import Sequence

from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError
from training.data import load_tokenizer

# What the model of a tokenizer.json is called, by kind.
MODELS = {"bpe": "BPE", "wordpiece": "WordPiece", "unigram": "Unigram"}


def parse_references(texts: Sequence[str]) -> dict[str, str]:
    """Paths or URIs by kind, of texts such as "bpe=roberta-base/tokenizer.json".

    Raises:
        BitcipherError: if one is not of that form, or a kind comes twice.
    """
    references: dict[str, str] = {}
    for text in texts:
        kind, _, place = text.partition("=")
        if kind not in MODELS or not place:
            raise BitcipherError(
                f"A reference is KIND=tokenizer.json with one of the kinds {', '.join(MODELS)}, and {text!r} is not."
            )
        if kind in references:
            raise BitcipherError(f"There are two references of kind {kind}: leave one out.")
        references[kind] = place
    return references


def load_reference(kind: str, place: str) -> Tokenizer:
    """The reference tokenizer of a kind.

    Args:
        kind: bpe, wordpiece or unigram.
        place: path or URI of its tokenizer.json.

    Raises:
        BitcipherError: if there is no such file, or it is of another kind.
    """
    tokenizer = load_tokenizer(place)
    model = type(tokenizer.model).__name__
    if model != MODELS[kind]:
        raise BitcipherError(
            f"The reference of kind {kind} must be a tokenizer of model {MODELS[kind]}, and {place} is of {model}."
        )
    return tokenizer
