"""Tokenizer files for transformers, which encode texts as a model reads them.

tokenizer.json          the tokenizer, which adds the special tokens that the model was trained with
tokenizer_config.json   names of the special tokens, the maximum length, and the inputs of the model
"""

import json
from typing import Any, Literal, NamedTuple

from tokenizers import Tokenizer

from bitcipher.files import json_files
from training.data.special_tokens import SpecialTokens, special_tokens

TOKENIZER, TOKENIZER_CONFIG = "tokenizer.json", "tokenizer_config.json"


class InputFormat(NamedTuple):
    """Special tokens around the texts that a model reads."""

    kind: Literal["encoder", "decoder", "encoder-decoder"]
    """encoder: `begin A end`, or `begin A end B end` for pairs; decoder: `end A`, because a document follows the end of
    another; encoder-decoder: `A end`."""
    max_length: int
    """Maximum number of tokens, including special tokens."""
    double_end: bool = False
    """Encode pairs as `begin A end end B end`, as in RoBERTa."""
    token_types: bool = False
    """The second text and its end have token type 1, as in BERT."""


def tokenizer_files(tokenizer: Tokenizer, input_format: InputFormat) -> dict[str, bytes]:
    """Return the content of each file by its name; the same tokenizer gives the same bytes.

    Args:
        tokenizer: tokenizer of the model.
        input_format: special tokens around texts.

    Raises:
        BitcipherError: if the tokenizer has no end token.
    """
    content = json.loads(tokenizer.to_str())
    special = special_tokens(tokenizer)
    content["post_processor"] = {
        "type": "Sequence",
        "processors": [*_offset_processors(content["post_processor"]), _template(tokenizer, special, input_format)],
    }
    named = {
        "pad_token": special.pad,
        "bos_token": special.begin,
        "eos_token": special.end,
        "unk_token": special.unknown,
        "cls_token": special.begin,
        "sep_token": special.end,
        "mask_token": special.mask,
    }
    inputs = ["input_ids", *["token_type_ids"] * input_format.token_types, "attention_mask"]
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": input_format.max_length,
        "clean_up_tokenization_spaces": False,
        "padding_side": "left" if input_format.kind == "decoder" else "right",
        "model_input_names": inputs,
        **{name: tokenizer.id_to_token(number) for name, number in named.items() if number is not None},
    }
    # The library writes the tokenizer, so that its content has the form of `save_tokenizer`.
    complete = Tokenizer.from_str(json.dumps(content)).to_str(pretty=True).encode()
    return {TOKENIZER: complete, TOKENIZER_CONFIG: json_files.to_bytes(config)}


def _offset_processors(post_processor: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the parts of a post-processor that add no special tokens: that of byte-level BPE trims offsets."""
    if post_processor is None:
        return []
    if post_processor["type"] == "Sequence":
        return [each for part in post_processor["processors"] for each in _offset_processors(part)]
    return [post_processor] if post_processor["type"] == "ByteLevel" else []


def _template(tokenizer: Tokenizer, special: SpecialTokens, input_format: InputFormat) -> dict[str, Any]:
    ids = {str(tokenizer.id_to_token(number)): number for number in (special.begin, special.end)}
    begin, end = (str(tokenizer.id_to_token(number)) for number in (special.begin, special.end))

    def token(name: str, type_id: int = 0) -> dict[str, Any]:
        return {"SpecialToken": {"id": name, "type_id": type_id}}

    def text(name: str, type_id: int = 0) -> dict[str, Any]:
        return {"Sequence": {"id": name, "type_id": type_id}}

    if input_format.kind == "encoder":
        second = int(input_format.token_types)
        single = [token(begin), text("A"), token(end)]
        pair = [*single, *[token(end)] * input_format.double_end, text("B", second), token(end, second)]
    elif input_format.kind == "decoder":
        single = [token(end), text("A")]
        pair = [*single, token(end), text("B")]
    else:
        single = [text("A"), token(end)]
        pair = [*single, text("B"), token(end)]
    used = {each["SpecialToken"]["id"] for each in pair if "SpecialToken" in each}
    described = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in sorted(used)}
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": described}
