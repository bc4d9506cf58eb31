"""A folder of words and vectors for Hugging Face's libraries: one that four of them open.

model.safetensors       one tensor "embeddings", (N, d) float32; the number of a token is its row
tokenizer.json          whole words, and <oov> for all others
tokenizer_config.json   for AutoTokenizer
config.json             for model2vec
modules.json            for sentence-transformers
"""

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import safetensors
import safetensors.numpy

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.formats.row_blocks import Advance, new_folder, tokenizer_of
from bitcipher.formats.table_builder import check_numbers
from bitcipher.vectors import CipherVectors, safetensors_file
from bitcipher.vocabulary import OOV

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TENSOR = "embeddings"
TENSORS = ("embedding.weight", TENSOR)

# What spaCy's English rules cut off a chunk between white space, closely enough for text that was not cut up before: of
# 1,000 tokens of a novel 997 are the same. The ends of contractions, punctuation before and after a word, hyphens
# between letters, and the point of a sentence, but not that of the abbreviations in the vocabulary.
CUTS = (
    r"n['’]t$|['’](?:s|re|ve|ll|d|m)$|(?<=^can)not$"
    r"|^[\"'“”‘’«»(\[{<*_$£€#]|[\"'“”‘’«»)\]}>,;:!?…*_%%]$|(?<=\w\w)%s\.$"
    r"|(?<=\p{L})(?:-|--|–|—)(?=\p{L})|--+|—"
)
# Cuts follow each other at the end of a chunk, as in `house."` and `don't,"`.
CUT_ROUNDS = 3
# The most frequent abbreviations, each of which is looked for at every point. Builds by spaCy's rules have some fifty.
ABBREVIATIONS = 100


def write(vectors: CipherVectors, target: str, advance: Advance) -> None:
    """Write the folder. A table without `<oov>` gets one of zeros, for a tokenizer needs a token for other words."""
    words, rows = vectors.index_to_key, vectors.vectors
    if OOV not in vectors.key_to_index:
        words, rows = [*words, OOV], np.concatenate([rows, np.zeros((1, vectors.vector_size), np.float32)])
    with new_folder(target) as folder:
        with storage.writing(storage.join(folder, "model.safetensors")) as stream:
            stream.writelines(safetensors_file.pieces(rows, TENSOR))
        advance(len(vectors))
        is_split = tokenizer_of(vectors) == "whitespace"
        with storage.writing(storage.join(folder, "tokenizer.json")) as stream:
            stream.write(_tokenizer(words, is_split).to_str().encode())
        # model2vec cuts texts off after 512 tokens unless it is told otherwise.
        config = {"normalize": False, "max_length": None}
        storage.write_json(
            storage.join(folder, "config.json"), {**config, "hidden_dim": vectors.vector_size, "vocab_size": len(words)}
        )
        storage.write_json(
            storage.join(folder, "tokenizer_config.json"),
            {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": OOV, "clean_up_tokenization_spaces": False},
        )
        module = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"}
        with storage.writing(storage.join(folder, "modules.json")) as stream:
            stream.write(orjson.dumps([module], option=orjson.OPT_INDENT_2) + b"\n")


def _tokenizer(words: list[str], is_split: bool) -> "Tokenizer":
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(words)}, unk_token=OOV))
    if all(word == word.lower() for word in words):
        tokenizer.normalizer = normalizers.Lowercase()
    steps = [pre_tokenizers.WhitespaceSplit()]
    if not is_split:
        abbreviations = (rf"\b{re.escape(word[:-1])}" for word in words if re.fullmatch(r"\w\w+\.", word))
        unless = "|".join(islice(abbreviations, ABBREVIATIONS))
        unless = f"(?<!{unless})" if unless else ""
        steps += [pre_tokenizers.Split(Regex(CUTS % unless), "isolated")] * CUT_ROUNDS
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.add_special_tokens([AddedToken(OOV, special=True, normalized=False)])
    return tokenizer


def read(uri: str) -> CipherVectors:
    """Read the words and vectors of such a folder, also of one that model2vec or sentence-transformers wrote.

    Raises:
        BitcipherError: if a file is missing or damaged, or if the tokens and vectors do not agree.
    """
    tokens = _tokens(storage.read_json(storage.join(uri, "tokenizer.json")))
    path = storage.join(uri, "model.safetensors")
    data = storage.read_bytes(path)
    if data is None:
        raise BitcipherError(f"{uri} holds no model.safetensors beside its tokenizer.json.")
    try:
        tensors = safetensors.numpy.load(data)
    except KeyError as error:
        raise BitcipherError(
            f"{path} has numbers of the type {error.args[0]}, which NumPy does not: write float32."
        ) from None
    except safetensors.SafetensorError as error:
        raise BitcipherError(f"{path} is not a safetensors file, or it is damaged: {error}.") from None
    table = next((tensors[name] for name in TENSORS if name in tensors), None)
    if table is None or table.ndim != 2 or "mapping" in tensors or len(tokens) != len(table):
        raise BitcipherError(f"{path} holds no table with a row for each of the {len(tokens):,} tokens.")
    vectors = CipherVectors(tokens, table.astype(np.float32), manifest={"read_from": "sentence-transformers"})
    check_numbers(vectors, uri)
    return vectors


def _tokens(tokenizer: dict[str, Any]) -> list[str]:
    try:
        vocabulary = tokenizer["model"]["vocab"]
        pairs = vocabulary.items() if isinstance(vocabulary, dict) else ((t, i) for i, (t, _) in enumerate(vocabulary))
        numbers = {number: token for token, number in pairs}
        numbers |= {token["id"]: token["content"] for token in tokenizer.get("added_tokens") or []}
        return [numbers[number] for number in range(len(numbers))]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BitcipherError("The tokenizer.json does not number its tokens: it is damaged.") from None
