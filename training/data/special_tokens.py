"""Special tokens of a tokenizer, found by the names that published language models use."""

from dataclasses import dataclass
from itertools import count, takewhile

from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError

# Names of each special token in the model families, in this order: RoBERTa, T5 and OPT; BERT, ELECTRA and DeBERTa;
# Gemma; GPT-2.
PAD = ("<pad>", "[PAD]")
BEGIN = ("<s>", "[CLS]", "<bos>")
END = ("</s>", "[SEP]", "<eos>", "<|endoftext|>")
UNKNOWN = ("<unk>", "[UNK]")
MASK = ("<mask>", "[MASK]")


def sentinel(number: int) -> str:
    """Return the name of T5's sentinel token with the given number."""
    return f"<extra_id_{number}>"


@dataclass(frozen=True)
class SpecialTokens:
    """Ids of the special tokens of a tokenizer."""

    pad: int
    """Padding token, after the end of short sequences."""
    begin: int
    """Token before the first token of a text."""
    end: int
    """Token after the last token of a text."""
    unknown: int
    """Token for text that the vocabulary cannot represent."""
    mask: int | None
    """Token in place of a masked token, or None if the tokenizer has no mask token."""
    sentinels: tuple[int, ...]
    """T5's tokens in place of noise spans, `<extra_id_0>` first; empty if the tokenizer has none."""


def special_tokens(tokenizer: Tokenizer) -> SpecialTokens:
    """Return the special tokens of a tokenizer.

    Only tokens that the tokenizer marks as special are considered, because OPT's vocabulary has a `<s>` that OPT never
    uses. A missing padding, begin or unknown token is replaced with the end token, as in GPT-2 and OPT.

    Raises:
        BitcipherError: if there is no end token.
    """
    ids = {token.content: token_id for token_id, token in tokenizer.get_added_tokens_decoder().items() if token.special}

    def first_of(names: tuple[str, ...]) -> int | None:
        return next((ids[name] for name in names if name in ids), None)

    end = first_of(END)
    if end is None:
        raise BitcipherError(
            f"The tokenizer has no end token; add one of {', '.join(END)} to the added_tokens of its tokenizer.json."
        )
    pad, begin, unknown = (end if (found := first_of(names)) is None else found for names in (PAD, BEGIN, UNKNOWN))
    names = takewhile(ids.__contains__, map(sentinel, count()))
    return SpecialTokens(pad, begin, end, unknown, first_of(MASK), tuple(ids[name] for name in names))
