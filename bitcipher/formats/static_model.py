"""Static embedding model: a folder for sentence-transformers, model2vec, transformers and safetensors.

model.safetensors       one tensor "embeddings", (N, d) float32; the id of a token is its row
tokenizer.json          a tokenizer of whole words, with <oov> as the unknown token
tokenizer_config.json   for AutoTokenizer
config.json             for model2vec
modules.json            for sentence-transformers

`bitcipher.sentences` writes the same files, with rows that are weighted.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import safetensors
import safetensors.numpy

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.formats.row_blocks import Advance
from bitcipher.formats.table_builder import check_table
from bitcipher.formats.tokenizer_name import tokenizer_name
from bitcipher.formats.word_tokenizer import make_tokenizer
from bitcipher.table import safetensors_file
from bitcipher.table.manifest import FileEntry
from bitcipher.table.vector_files import write_bytes
from bitcipher.table.vector_table import VectorTable
from bitcipher.vocabulary import OOV

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TENSOR = "embeddings"
TENSORS = ("embedding.weight", TENSOR)


def write(table: VectorTable, target: str, advance: Advance) -> None:
    """Write the folder. A table without `<oov>` gets a zero vector for it, since a tokenizer needs an unknown token."""
    words, blocks = table.index_to_key, [table.vectors]
    if OOV not in table.key_to_index:
        words, blocks = [*words, OOV], [table.vectors, np.zeros((1, table.vector_size), np.float32)]
    tokenizer = make_tokenizer(words, tokenizer_name(table) == "whitespace")
    with storage.writing_folder(target) as folder:
        write_files(folder, blocks, tokenizer)
        advance(len(table))


def write_files(
    folder: str, blocks: Sequence[np.ndarray], tokenizer: "Tokenizer", normalize: bool = False
) -> dict[str, FileEntry]:
    """Write the files to a folder, and return their sizes and digests by name.

    Args:
        folder: the folder.
        blocks: the vectors of the tokens, (N, d) float32, in consecutive blocks of rows.
        tokenizer: the tokenizer.
        normalize: whether the libraries scale the mean of the vectors of a text to length 1.
    """
    shape = (sum(map(len, blocks)), blocks[0].shape[1])
    # model2vec truncates texts to 512 tokens by default.
    config = {"normalize": normalize, "max_length": None, "hidden_dim": shape[1], "vocab_size": shape[0]}
    loader = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": OOV, "clean_up_tokenization_spaces": False}
    types = ["StaticEmbedding", *(["Normalize"] if normalize else [])]
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{name}" if i else "", "type": f"sentence_transformers.models.{name}"}
        for i, name in enumerate(types)
    ]
    contents: dict[str, Iterable[bytes]] = {
        "model.safetensors": safetensors_file.iter_bytes(shape, blocks, TENSOR),
        "tokenizer.json": [tokenizer.to_str().encode()],
        "config.json": [json_files.to_bytes(config)],
        "tokenizer_config.json": [json_files.to_bytes(loader)],
        "modules.json": [orjson.dumps(modules, option=orjson.OPT_INDENT_2) + b"\n"],
    }
    return {name: write_bytes(folder, name, content) for name, content in contents.items()}


def read(uri: str) -> VectorTable:
    """Read the words and vectors of a folder that `write`, model2vec or sentence-transformers wrote.

    Raises:
        BitcipherError: if a file is missing or damaged, or if the tokens and vectors do not agree.
    """
    tokenizer, model = (storage.read_bytes(storage.join(uri, name)) for name in ("tokenizer.json", "model.safetensors"))
    if tokenizer is None or model is None:
        missing = "tokenizer.json" if tokenizer is None else "model.safetensors"
        raise BitcipherError(f"{uri} is not a static embedding model: it has no {missing}.")
    return parse(uri, tokenizer, model)


def parse(uri: str, tokenizer: bytes, model: bytes) -> VectorTable:
    """Return the words and vectors in the content of tokenizer.json and model.safetensors.

    Args:
        uri: the folder, for error messages.
        tokenizer: content of tokenizer.json.
        model: content of model.safetensors.

    Raises:
        BitcipherError: if a file is damaged, or if the tokens and vectors do not agree.
    """
    tokens = _read_tokens(json_files.parse(tokenizer, storage.join(uri, "tokenizer.json")))
    path = storage.join(uri, "model.safetensors")
    try:
        tensors = safetensors.numpy.load(model)
    except KeyError as error:
        raise BitcipherError(
            f"{path} has values of the type {error.args[0]}, which NumPy does not support: write float32."
        ) from None
    except safetensors.SafetensorError as error:
        raise BitcipherError(f"{path} is not a safetensors file, or it is damaged: {error}.") from None
    return check_table(uri, "sentence-transformers", tokens, _token_vectors(tensors, len(tokens), path))


def _token_vectors(tensors: dict[str, np.ndarray], tokens: int, path: str) -> np.ndarray:
    """Return the vectors of the tokens, (N, d) float32, as model2vec computes them.

    In a model2vec folder, `mapping` has the row of each token, and `weights` the factor of its vector.
    """
    rows = next((tensors[name] for name in TENSORS if name in tensors), None)
    mapping, weights = tensors.get("mapping"), tensors.get("weights")
    if rows is not None and rows.ndim and mapping is not None:
        if mapping.shape != (tokens,) or mapping.dtype.kind not in "iu" or not _are_rows(mapping, len(rows)):
            raise BitcipherError(f"The tensor `mapping` of {path} has no row for each of the {tokens:,} tokens.")
        rows = rows[mapping]
    if rows is None or rows.ndim != 2 or len(rows) != tokens or rows.dtype.kind not in "fiu":
        raise BitcipherError(f"{path} has no matrix of numbers with one row for each of the {tokens:,} tokens.")
    if weights is None:
        return rows
    if weights.shape != (tokens,) or weights.dtype.kind != "f":
        raise BitcipherError(f"The tensor `weights` of {path} has no number for each of the {tokens:,} tokens.")
    with np.errstate(over="ignore", invalid="ignore"):  # values above those of float32, which a table refuses
        return (rows * weights[:, None]).astype(np.float32, copy=False)


def _are_rows(mapping: np.ndarray, rows: int) -> bool:
    return not len(mapping) or bool(0 <= mapping.min() and mapping.max() < rows)


def _read_tokens(tokenizer: dict[str, Any]) -> list[str]:
    try:
        vocabulary = tokenizer["model"]["vocab"]
        pairs = vocabulary.items() if isinstance(vocabulary, dict) else ((t, i) for i, (t, _) in enumerate(vocabulary))
        token_of_id = {number: token for token, number in pairs}
        token_of_id |= {token["id"]: token["content"] for token in tokenizer.get("added_tokens") or []}
        return [token_of_id[number] for number in range(len(token_of_id))]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BitcipherError("The token ids in tokenizer.json are not 0, 1, 2, …: the file is damaged.") from None
