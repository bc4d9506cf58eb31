"""Models in folders: `config.json` and `model.safetensors`, as transformers reads and writes them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import BertConfig, GPT2Config, OPTConfig, PreTrainedConfig, PreTrainedModel, RobertaConfig, T5Config
from transformers.utils import logging

from bitcipher import storage
from bitcipher.errors import BitcipherError, first_line
from training.models.parts import freeze_unread, is_tied
from training.models.projected import PROJECTED, ProjectedRobertaConfig

_CONFIGS = {
    config.model_type: config
    for config in (BertConfig, RobertaConfig, ProjectedRobertaConfig, GPT2Config, OPTConfig, T5Config)
}
_CONFIG = "config.json"


def save_model(model: PreTrainedModel, folder: str) -> None:
    """Write a model to a folder or URI; what is tied is stored once.

    The weights come first and the configuration last: a folder without `config.json` is no model.

    Raises:
        BitcipherError: if the folder cannot be written.
    """
    with TemporaryDirectory() as made, _quiet():
        # One file, whatever its size: it is written in one go and read memory-mapped.
        model.save_pretrained(made, max_shard_size=2**62)
        for path in sorted(Path(made).iterdir(), key=lambda path: path.name == _CONFIG):
            with storage.writing(storage.join(folder, path.name)) as stream, path.open("rb") as source:
                while block := source.read(2**24):
                    stream.write(block)


def load_model(folder: str) -> PreTrainedModel:
    """Read a model of `save_model`, or of transformers' `save_pretrained`, in float32 and evaluation mode.

    It is of the class that it was when it was saved, with whatever head that has.

    Args:
        folder: or URI; a name on a hub is not looked up, nothing comes from the network but what the URI names.

    Raises:
        BitcipherError: if there is no model, it is none of the known families, its weights are pickled, incomplete or
            damaged.
    """
    config = read_config(folder)
    name = next(iter(config.architectures or []), "none")
    kind = PROJECTED.get(name) or getattr(transformers, name, None)
    # Only a class that transformers itself or `projected` has for this family: nothing that a folder brings is run.
    if not (isinstance(kind, type) and issubclass(kind, PreTrainedModel) and kind.config_class is type(config)):
        raise BitcipherError(f"{folder} holds a model of the class {name}, which is none that can be loaded.")
    with torch.random.fork_rng(devices=[]):
        return load_as(folder, kind, config)


def read_config(folder: str) -> PreTrainedConfig:
    """The configuration in a model's folder.

    Raises:
        BitcipherError: if there is none, or it is none of a known family.
    """
    uri = storage.join(folder, _CONFIG)
    if not storage.exists(uri):
        raise BitcipherError(
            f"There is no model in {folder}: give a folder that holds config.json and model.safetensors. "
            f"Nothing is fetched by the name of a model."
        )
    content = storage.read_json(uri)
    family = content.get("model_type")
    if family not in _CONFIGS:
        raise BitcipherError(f"{uri} is of the kind {family}, and what can be loaded is {', '.join(_CONFIGS)}.")
    try:
        return _CONFIGS[family].from_dict(content)
    except (StrictDataclassError, TypeError, ValueError) as error:
        raise BitcipherError(f"{uri} is no configuration of a model: {first_line(error)}.") from None


def load_as(folder: str, kind: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
    """Read a folder's weights into a model of this class; what they do not name is an error, never random.

    Raises:
        BitcipherError: as `load_model`.
    """
    with _on_this_machine(folder) as path, _quiet():
        try:
            model, told = kind.from_pretrained(
                path,
                config=config,
                local_files_only=True,
                use_safetensors=True,
                attn_implementation="sdpa",
                dtype=torch.float32,
                output_loading_info=True,
            )
        except (OSError, RuntimeError, ValueError, SafetensorError) as error:
            raise BitcipherError(f"The model in {folder} cannot be read: {first_line(error)}.") from None
    if told["missing_keys"]:
        raise BitcipherError(
            f"The model in {folder} is no whole {kind.__name__}: it has no weights {min(told['missing_keys'])}."
        )
    if model.get_output_embeddings() is not None:
        # T5's configuration says that it is tied even where it is not, and would have it tied again.
        model.config.tie_word_embeddings = is_tied(model)
        freeze_unread(model)
    return model


@contextmanager
def _on_this_machine(folder: str) -> Iterator[str]:
    """A path that holds the model's files: the folder itself, or a copy for a while of what a store has."""
    names = [name for name in storage.list_files(folder) if os.sep not in name]
    if not any(name.endswith(".safetensors") for name in names):
        pickled = next((name for name in names if name.endswith((".bin", ".pt", ".pth", ".ckpt"))), None)
        if pickled:
            raise BitcipherError(
                f"{storage.join(folder, pickled)} is pickled, and reading it could run what it holds: "
                f"store the model as safetensors."
            )
        raise BitcipherError(f"There are no weights in {folder}: it needs model.safetensors.")
    if (path := storage.local_path(folder)) is not None:
        yield path
        return
    with TemporaryDirectory() as made:
        for name in names:
            if name.endswith((".json", ".safetensors")):
                with storage.reading(storage.join(folder, name)) as stream, Path(made, name).open("wb") as copy:
                    while block := stream.read(2**24):
                        copy.write(block)
        yield made


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars and warnings of transformers: what matters of them is told in our errors."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
