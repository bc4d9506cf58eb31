"""Static embedding model: a folder for sentence-transformers, model2vec, transformers and safetensors.

model.safetensors       one tensor "embeddings", (N, d) float32; the id of a token is its row
tokenizer.json          a tokenizer of whole words, with <oov> as the unknown token
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

from bitcipher import json_files, storage
from bitcipher.errors import BitcipherError
from bitcipher.formats.row_blocks import Advance
from bitcipher.formats.table_builder import check_table
from bitcipher.formats.tokenizer_name import tokenizer_name
from bitcipher.table import VectorTable, safetensors_file
from bitcipher.vocabulary import OOV

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TENSOR = "embeddings"
TENSORS = ("embedding.weight", TENSOR)

# Approximation of spaCy's English tokenizer within a whitespace-separated chunk: 997 of 1,000 tokens of a novel are the
# same. It splits off the ends of contractions, punctuation before and after a word, hyphens between letters, and the
# period of a sentence, but not that of the abbreviations in the vocabulary.
SPLITS = (
    r"n['’]t$|['’](?:s|re|ve|ll|d|m)$|(?<=^can)not$"
    r"|^[\"'“”‘’«»(\[{<*_$£€#]|[\"'“”‘’«»)\]}>,;:!?…*_%%]$|(?<=\w\w)%s\.$"
    r"|(?<=\p{L})(?:-|--|–|—)(?=\p{L})|--+|—"
)
# Number of times that the splits are applied, since a chunk such as `house."` or `don't,"` needs several in turn.
SPLIT_ROUNDS = 3
# Maximum number of abbreviations, the most frequent ones, since the pattern tries each of them at every period. Builds
# with spaCy's tokenizer have about 50.
MAX_ABBREVIATIONS = 100


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the folder. A table without `<oov>` gets a zero vector for it, since a tokenizer needs an unknown token."""
    words, blocks = table.index_to_key, [table.vectors]
    if OOV not in table.key_to_index:
        words, blocks = [*words, OOV], [table.vectors, np.zeros((1, table.vector_size), np.float32)]
    with storage.writing_folder(target) as folder:
        with storage.writing(storage.join(folder, "model.safetensors")) as stream:
            stream.writelines(safetensors_file.iter_bytes((len(words), table.vector_size), blocks, TENSOR))
        advance(len(table))
        whitespace_only = tokenizer_name(table) == "whitespace"
        with storage.writing(storage.join(folder, "tokenizer.json")) as stream:
            stream.write(_make_tokenizer(words, whitespace_only).to_str().encode())
        # model2vec truncates texts to 512 tokens by default.
        config: dict[str, Any] = {"normalize": False, "max_length": None}
        config |= {"hidden_dim": table.vector_size, "vocab_size": len(words)}
        storage.write_bytes(storage.join(folder, "config.json"), json_files.to_bytes(config))
        config = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": OOV, "clean_up_tokenization_spaces": False}
        storage.write_bytes(storage.join(folder, "tokenizer_config.json"), json_files.to_bytes(config))
        module = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"}
        with storage.writing(storage.join(folder, "modules.json")) as stream:
            stream.write(orjson.dumps([module], option=orjson.OPT_INDENT_2) + b"\n")


def _make_tokenizer(words: list[str], whitespace_only: bool) -> "Tokenizer":
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(words)}, unk_token=OOV))
    if all(word == word.lower() for word in words):
        tokenizer.normalizer = normalizers.Lowercase()
    steps = [pre_tokenizers.WhitespaceSplit()]
    if not whitespace_only:
        abbreviations = (rf"\b{re.escape(word[:-1])}" for word in words if re.fullmatch(r"\w\w+\.", word))
        unless = "|".join(islice(abbreviations, MAX_ABBREVIATIONS))
        unless = f"(?<!{unless})" if unless else ""
        steps += [pre_tokenizers.Split(Regex(SPLITS % unless), "isolated")] * SPLIT_ROUNDS
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.add_special_tokens([AddedToken(OOV, special=True, normalized=False)])
    return tokenizer


def read(uri: str) -> VectorTable:
    """Read the words and vectors of a folder that `write`, model2vec or sentence-transformers wrote.

    Raises:
        BitcipherError: if a file is missing or damaged, or if the tokens and vectors do not agree.
    """
    tokens = _read_tokens(json_files.read(storage.join(uri, "tokenizer.json")))
    path = storage.join(uri, "model.safetensors")
    data = storage.read_bytes(path)
    if data is None:
        raise BitcipherError(f"{uri} has a tokenizer.json but no model.safetensors.")
    try:
        tensors = safetensors.numpy.load(data)
    except KeyError as error:
        raise BitcipherError(
            f"{path} has values of the type {error.args[0]}, which NumPy does not support: write float32."
        ) from None
    except safetensors.SafetensorError as error:
        raise BitcipherError(f"{path} is not a safetensors file, or it is damaged: {error}.") from None
    rows = next((tensors[name] for name in TENSORS if name in tensors), None)
    if rows is None or rows.ndim != 2 or "mapping" in tensors or len(tokens) != len(rows):
        raise BitcipherError(f"{path} has no matrix with one row for each of the {len(tokens):,} tokens.")
    return check_table(uri, "sentence-transformers", tokens, rows.astype(np.float32))


def _read_tokens(tokenizer: dict[str, Any]) -> list[str]:
    try:
        vocabulary = tokenizer["model"]["vocab"]
        pairs = vocabulary.items() if isinstance(vocabulary, dict) else ((t, i) for i, (t, _) in enumerate(vocabulary))
        token_of_id = {number: token for token, number in pairs}
        token_of_id |= {token["id"]: token["content"] for token in tokenizer.get("added_tokens") or []}
        return [token_of_id[number] for number in range(len(token_of_id))]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BitcipherError("The token ids in tokenizer.json are not 0, 1, 2, …: the file is damaged.") from None
