"""Which tokens of a tokenizer pad, begin, end and mask: found by the names that language models give them."""

from dataclasses import dataclass
from itertools import count, takewhile

from tokenizers import Tokenizer

from bitcipher.errors import BitcipherError

# The names by family: RoBERTa, T5 and OPT; BERT, ELECTRA and DeBERTa; Gemma; GPT-2.
PAD = ("<pad>", "[PAD]")
BEGIN = ("<s>", "[CLS]", "<bos>")
END = ("</s>", "[SEP]", "<eos>", "<|endoftext|>")
UNKNOWN = ("<unk>", "[UNK]")
MASK = ("<mask>", "[MASK]")


def sentinel(number: int) -> str:
    """The name of a token that stands for the `number`-th gap in a text, as T5 has it."""
    return f"<extra_id_{number}>"


@dataclass(frozen=True)
class SpecialTokens:
    """Ids of the tokens that are no text."""

    pad: int
    """fills up rows"""
    begin: int
    """stands before a text"""
    end: int
    """stands after a text"""
    unknown: int
    """stands for text that has no token"""
    mask: int | None
    """stands for a token to be guessed; None where the tokenizer has none"""
    sentinels: tuple[int, ...]
    """stand for gaps, `<extra_id_0>` first; empty where the tokenizer has none"""


def special_tokens(tokenizer: Tokenizer) -> SpecialTokens:
    """The special tokens of a tokenizer, by their usual names.

    Only tokens that the tokenizer itself marks as special count: OPT's vocabulary has a `<s>` that OPT never uses.
    Where one is missing that pads, begins or is unknown, the token that ends a text serves, as in GPT-2 and OPT.

    Raises:
        BitcipherError: if none of the usual names ends a text.
    """
    ids = {token.content: number for number, token in tokenizer.get_added_tokens_decoder().items() if token.special}

    def first_of(names: tuple[str, ...]) -> int | None:
        return next((ids[name] for name in names if name in ids), None)

    end = first_of(END)
    if end is None:
        raise BitcipherError(
            f"The tokenizer has no special token that ends a text: "
            f"it needs one of {', '.join(END)} among the added_tokens of its tokenizer.json."
        )
    pad, begin, unknown = (end if (found := first_of(names)) is None else found for names in (PAD, BEGIN, UNKNOWN))
    names = takewhile(ids.__contains__, map(sentinel, count()))
    return SpecialTokens(pad, begin, end, unknown, first_of(MASK), tuple(ids[name] for name in names))
