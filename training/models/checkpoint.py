"""Model folders: `config.json` and `model.safetensors`, as transformers reads and writes them."""

import math
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Annotated

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from pydantic import ConfigDict, Field
from safetensors import SafetensorError
from transformers import (
    BertConfig,
    DebertaV2Config,
    GPT2Config,
    ModernBertConfig,
    OPTConfig,
    PreTrainedConfig,
    PreTrainedModel,
    RobertaConfig,
    T5Config,
)
from transformers.utils import logging

from bitcipher.errors import BitcipherError, first_line
from bitcipher.files import json_files, object_store, storage
from bitcipher.files.file_digests import check_stored_digests
from bitcipher.files.records import Record
from training.models.deberta import DebertaMaskDecoderConfig, DebertaWithMaskDecoder
from training.models.encoders import attention_kernel
from training.models.model_folder import GENERATION, MODEL_CONFIG, WEIGHTS, WEIGHTS_INDEX, missing_model
from training.models.next_sentence import ModernBertForPreTraining
from training.models.part_folders import make_parts
from training.models.parts import freeze_unused_parameters, is_tied
from training.models.projected import PROJECTED, ProjectedRobertaConfig
from training.models.replaced_tokens import ReplacedTokenConfig, ReplacedTokenModel
from training.models.sentence_views import SentenceViewConfig, SentenceViewModel

_CONFIGS = {
    config.model_type: config
    for config in (
        *(BertConfig, RobertaConfig, ProjectedRobertaConfig, ModernBertConfig),
        *(
            DebertaV2Config,
            DebertaMaskDecoderConfig,
            ReplacedTokenConfig,
            SentenceViewConfig,
            GPT2Config,
            OPTConfig,
            T5Config,
        ),
    )
}
# Classes of this project by their names in `config.json`.
_OWN_CLASSES = PROJECTED | {
    each.__name__: each
    for each in (DebertaWithMaskDecoder, ModernBertForPreTraining, ReplacedTokenModel, SentenceViewModel)
}
_COPY_BYTES = 2**24
# Sizes by the names that all configurations have. Negative ones would fail in the first batch.
_SIZES = (
    *("vocab_size", "max_position_embeddings", "hidden_size", "intermediate_size"),
    *("num_hidden_layers", "num_attention_heads"),
)
_CONFIG_ERRORS = (
    *(StrictDataclassError, ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError),
)

# Entries of `config.json` that make transformers read other files, or need other libraries.
_REFUSED = ("transformers_weights", "quantization_config")


class _WeightsIndex(Record):
    """Index of weights in several files, as transformers writes it."""

    model_config = ConfigDict(extra="ignore")

    weight_map: dict[str, Annotated[str, Field(pattern=r"^[\w-][\w.-]*\.safetensors$")]]
    """File of each weight: the plain name of a safetensors file."""


def save_model(model: PreTrainedModel, folder: str, weights: dict[str, torch.Tensor] | None = None) -> None:
    """Write a model to a folder or URI. Tied weights are stored once.

    Parts of a model that transformers has no class for are written to subfolders, too (see `part_folders`). The
    configuration is written last: a folder without `config.json` is not a model.

    Args:
        model: model.
        folder: folder or URI.
        weights: weights by their names; by default those of the model.

    Raises:
        BitcipherError: if the folder cannot be written.
    """
    with TemporaryDirectory() as temporary, _quiet_transformers():
        # All weights are in one file, whatever its size, because the file is read memory-mapped.
        for name, part in make_parts(model, model.state_dict() if weights is None else weights).items():
            part.save_pretrained(Path(temporary, name), max_shard_size=2**62)
        # It empties the dictionary of weights.
        model.save_pretrained(temporary, state_dict=weights, max_shard_size=2**62)
        paths = [path for path in Path(temporary).rglob("*") if path.is_file()]
        for path in sorted(paths, key=lambda path: path == Path(temporary, MODEL_CONFIG)):
            name = path.relative_to(temporary).as_posix()
            with storage.writing(storage.join(folder, name)) as stream, path.open("rb") as source:
                while block := source.read(_COPY_BYTES):
                    stream.write(block)


def load_model(folder: str) -> PreTrainedModel:
    """Load a model written by `save_model` or by transformers, in float32 and evaluation mode.

    The model has the class that it was saved with, and therefore the same head.

    Args:
        folder: path or URI. Names of models on a hub are not resolved.

    Raises:
        BitcipherError: if there is no model, its architecture is not supported, or its weights are pickled, incomplete
            or damaged.
    """
    config = read_config(folder)
    names = config.architectures if isinstance(config.architectures, list) else []
    name = str(names[0]) if names else "none"
    model_class = _OWN_CLASSES.get(name) or getattr(transformers, name, None)
    # Only classes that transformers or this project defines for this configuration: code in the folder is never run.
    if not (
        isinstance(model_class, type)
        and issubclass(model_class, PreTrainedModel)
        and model_class.config_class is type(config)
    ):
        raise BitcipherError(f"{folder} holds a model of class {name}, which is not supported.")
    with torch.random.fork_rng(devices=[]):
        return load_model_as(folder, model_class, config)


def read_config(folder: str) -> PreTrainedConfig:
    """Return the configuration of the model in a folder.

    Raises:
        BitcipherError: if there is no configuration, or its architecture is not supported.
    """
    uri = storage.join(folder, MODEL_CONFIG)
    if not storage.exists(uri):
        raise missing_model(folder)
    check_stored_digests(folder, [MODEL_CONFIG])
    content = json_files.read(uri)
    if content.get("architectures") == [DebertaWithMaskDecoder.__name__]:
        content["model_type"] = DebertaMaskDecoderConfig.model_type  # earlier versions had that of the encoder
    model_type = content.get("model_type")
    if not isinstance(model_type, str) or model_type not in _CONFIGS:
        raise BitcipherError(f"{uri} has model_type {model_type!r}; supported are {', '.join(_CONFIGS)}.")
    refused = next((name for name in _REFUSED if content.get(name) is not None), None)
    if refused:
        raise BitcipherError(f"{uri} sets `{refused}`, which is not supported; store the model as plain safetensors.")
    for name, value in content.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise BitcipherError(f"{uri} is not a valid model configuration: {name} must be a number, got {value}.")
    with translating_config_errors(folder):
        config = _CONFIGS[model_type].from_dict(content)
    if config.is_encoder_decoder != _CONFIGS[model_type].is_encoder_decoder:
        raise BitcipherError(
            f"{uri} is not a valid model configuration: is_encoder_decoder is {config.is_encoder_decoder}, which no "
            f"{model_type} is."
        )
    for name in _SIZES:
        size = getattr(config, name, None)
        if size is not None and (type(size) is not int or size < 1):
            raise BitcipherError(f"{uri} is not a valid model configuration: {name} must be at least 1, got {size!r}.")
    return config


@contextmanager
def translating_config_errors(folder: str) -> Iterator[None]:
    """Raise a `BitcipherError` for errors of transformers and torch when a model is made from a configuration.

    Transformers checks few values of a configuration. The others fail when a layer uses them, with errors of any kind.
    """
    try:
        yield
    except _CONFIG_ERRORS as error:
        uri = storage.join(folder, MODEL_CONFIG)
        raise BitcipherError(f"{uri} is not a valid model configuration: {first_line(error)}.") from None


def load_model_as(folder: str, model_class: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
    """Load the weights in a folder into a model of the given class. Missing weights are an error.

    Raises:
        BitcipherError: see `load_model`.
    """
    with _weights_folder(folder) as path, _quiet_transformers(), translating_config_errors(folder):
        try:
            model, info = model_class.from_pretrained(
                path,
                config=config,
                local_files_only=True,
                use_safetensors=True,
                attn_implementation=attention_kernel(config),
                dtype=torch.float32,
                output_loading_info=True,
            )
        except (OSError, RuntimeError, ValueError, SafetensorError) as error:
            raise BitcipherError(f"The model in {folder} cannot be read: {first_line(error)}.") from None
    if info["missing_keys"]:
        raise BitcipherError(
            f"The model in {folder} is not a complete {model_class.__name__}: "
            f"the weights {min(info['missing_keys'])} are missing."
        )
    if model.get_output_embeddings() is not None:
        # The configuration of an untied T5 says that it is tied, and transformers would tie it again.
        model.config.tie_word_embeddings = is_tied(model)
        freeze_unused_parameters(model)
    return model


@contextmanager
def _weights_folder(folder: str) -> Iterator[str]:
    """Yield a temporary folder of the files that transformers may read: links to them, or copies of remote files.

    transformers reads files of other names as pickles, and follows an index, the configuration and the description of
    an adapter to files elsewhere.
    """
    names = [name for name in storage.list_files(folder) if os.sep not in name]
    needed = [*_list_weights(folder, names), *({GENERATION} & set(names))]
    check_stored_digests(folder, needed)
    with object_store.translating_errors("write", gettempdir(), is_local=True), TemporaryDirectory() as temporary:
        for name in needed:
            uri, target = storage.join(folder, name), Path(temporary, name)
            if (path := storage.local_path(uri)) is not None:
                target.symlink_to(path)
                continue
            with storage.reading(uri) as stream, target.open("wb") as copy:
                shutil.copyfileobj(stream, copy, _COPY_BYTES)
        yield temporary


def _list_weights(folder: str, names: list[str]) -> list[str]:
    """Return the names of the files of weights, and of their index if there is one."""
    if WEIGHTS in names:
        return [WEIGHTS]
    if WEIGHTS_INDEX in names:
        uri = storage.join(folder, WEIGHTS_INDEX)
        parts = sorted(set(_WeightsIndex.read(uri).weight_map.values()))
        missing = next((name for name in parts if name not in names), None)
        if missing is not None:
            raise BitcipherError(f"{uri} names the weights {missing}, which are not in the folder; restore them.")
        return [WEIGHTS_INDEX, *parts]
    pickled = next((name for name in names if name.endswith((".bin", ".pt", ".pth", ".ckpt"))), None)
    if pickled:
        raise BitcipherError(
            f"{storage.join(folder, pickled)} is pickled, and reading it could run code; "
            "store the model as safetensors."
        )
    raise BitcipherError(f"There are no weights in {folder}; it needs {WEIGHTS}.")


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Suppress progress bars and warnings of transformers, because `BitcipherError`s replace the warnings."""
    level, has_progress_bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_progress_bar:
            logging.enable_progress_bar()
