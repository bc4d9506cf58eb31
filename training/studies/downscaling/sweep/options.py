"""Options of a study of small language models.

Comments and docstrings name sections of Deshpande et al. (2023), "Honey, I Shrunk the Language" (the paper).
"""

import copy
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Float, Record, Strings
from bitcipher.files.settings import apply_settings
from bitcipher.files.yaml_files import find_yaml, read_yaml
from pipelines.ingest.read_options import Format
from training.data.tokenizer_options import TokenizerOptions
from training.loop.options import LoopOptions
from training.studies.downscaling.scaling.modernbert_shape import ModernBertShape
from training.studies.downscaling.scaling.shape import SEQUENCES, Shape
from training.studies.downscaling.scaling.shapes import larger, set_1, set_2, set_3, smallest
from training.tasks.finetuning.task_files import GLUE

Init = Literal["random", "cipher"]
INITS: tuple[str, ...] = get_args(Init)
# Kinds of shapes by architecture.
SHAPES: dict[str, type[Shape]] = {"roberta": Shape, "modernbert": ModernBertShape}
SETS = {"1": set_1, "2": set_2, "3": set_3, "smallest": smallest, "larger": larger}
LANGUAGES = ("constrained", "unconstrained")
_BATCH = 256
# Section 3.3.
TOKENIZER_DEFAULTS = {"kind": "bpe", "vocab_size": 19_000}
# Section 4.2: 35,475 updates with a warmup of 5 %. The section has one learning rate for models of more than 18 million
# parameters and another for all others, but both are misprinted (0.1 and 0.5). The authors started above 6e-4 and
# lowered the rate until the loss was stable, so the rates that they trained with are probably lower than this one.
LARGE_PARAMETERS = 18_000_000
LOOP_DEFAULTS = {
    "max_steps": SEQUENCES // _BATCH,
    "batch_size": _BATCH,
    "learning_rate": 6e-4,
    "warmup_steps": 0.05,
    "lr_scheduler_type": "inverse_sqrt",
    "adam_beta2": 0.95,
    "eval_steps": 1000,
    "save_steps": 1000,
}

_as_tuple = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)


def _check_unique(name: str, values: Sequence[Any]) -> None:
    if len(set(values)) < len(values):
        raise ValueError(f"`{name}` must not repeat a value, got {', '.join(map(str, values))}.")


class ShapeOptions(Record):
    """Shapes of the models to pre-train."""

    sets: Annotated[tuple[int | str, ...], _as_tuple] = (1, 2, 3, "smallest")
    """Sets of shapes: any of 1, 2, 3, smallest and larger (see `training.studies.downscaling.scaling`)."""
    names: Strings = ()
    """Additional shapes: embedding, hidden and intermediate size, layers and heads, such as 32-32-128-2-2."""
    max_shapes: int | None = Field(None, ge=2)
    """Maximum number of shapes, selected to span their range of FLOPs."""
    largest: str | None = None
    """Upper limit of FLOPs per sequence, given as a shape; shapes with more FLOPs are left out."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in self.sets:
            if str(name) not in SETS:
                raise ValueError(f"`shapes.sets` must be chosen from {', '.join(SETS)}, got {name!r}.")
        for name in (*self.names, *([self.largest] if self.largest else [])):
            try:
                Shape.from_name(name)
            except BitcipherError as error:
                raise ValueError(str(error)) from None
        if not self.sets and not self.names:
            raise ValueError("A study needs shapes; set `shapes.sets` or `shapes.names`.")
        return self

    def of_kind(self, kind: type[Shape]) -> set[Shape]:
        """Return the shapes of all sets and names, of a value of `SHAPES`.

        Raises:
            BitcipherError: if a shape is not possible for the architecture.
        """
        in_sets = {kind(*astuple(shape)) for name in self.sets for shape in SETS[str(name)]()}
        return in_sets | {kind.from_name(name) for name in self.names}


class PretrainingOptions(Record):
    """Pre-training of each model (section 4.2). Masked tokens are always replaced with the mask token (section 3.5)."""

    architecture: Literal["roberta", "modernbert"] = "roberta"
    """`roberta` with an output layer of its own, as in the paper, or `modernbert` with tied embeddings, for shapes with
    equal embedding and hidden sizes."""
    loop: LoopOptions = LoopOptions(**LOOP_DEFAULTS)
    large_learning_rate: Float | None = Field(None, gt=0)
    """Learning rate of models with more than 18 million parameters; null: that of `loop`. The paper has two rates,
    which are misprinted."""
    inits: Annotated[tuple[Init, ...], _as_tuple] = Field(("random",), min_length=1)
    """Initializations of the token embeddings: random, cipher or both."""
    unconstrained: bool = False
    """Also train each randomly initialized model on unfiltered text with its own tokenizer (appendix C)."""
    max_position_embeddings: int = Field(128, ge=1)
    """Sequence length in tokens."""
    dropout: Float = Field(0.1, ge=0, lt=1)
    """Dropout probability."""
    mlm_probability: Float = Field(0.15, gt=0, lt=1)
    """Fraction of tokens to predict."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_unique("pretraining.inits", self.inits)
        return self


class DownstreamOptions(Record):
    """Fine-tuning and evaluation of each model (section 4.3)."""

    glue: str | None = None
    """Path or URI of a folder with GLUE's task folders, named as published; without it nothing is fine-tuned."""
    tasks: Strings = ("cola", "sst2", "mrpc", "stsb", "rte", "wnli")
    """Tasks of GLUE."""
    filtered: Annotated[tuple[bool, ...], _as_tuple] = Field((True, False), min_length=1)
    """Use only examples within the study's vocabulary (true), all examples (false), or both."""
    random_baselines: bool = True
    """Also fine-tune each model from random weights, on the filtered examples if there are any."""
    seeds: int = Field(3, ge=1)
    """Number of fine-tuning runs per model and task, each with its own seed."""
    num_train_epochs: Float = Field(5.0, gt=0)
    """Number of passes over the training examples."""
    batch_size: int = Field(32, ge=1)
    """Number of examples per update."""
    learning_rate: Float = Field(1e-4, gt=0)
    """Peak learning rate; the paper's are between 2e-5 and 2e-4."""
    max_models: int | None = Field(None, ge=2)
    """Maximum number of models to fine-tune, selected to span their range of FLOPs."""
    checkpoints: Annotated[tuple[Float, ...], _as_tuple] = ()
    """Checkpoints of pre-training that are fine-tuned, too, as fractions of its steps, such as 0.25. The nearest stored
    checkpoint is used, and all checkpoints of pre-training are kept."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for task in self.tasks:
            if task not in GLUE:
                raise ValueError(f"`downstream.tasks` must be chosen from {', '.join(GLUE)}, got {task!r}.")
        _check_unique("downstream.tasks", self.tasks)
        _check_unique("downstream.filtered", self.filtered)
        if not all(0 < fraction < 1 for fraction in self.checkpoints):
            raise ValueError("`downstream.checkpoints` must be fractions above 0 and below 1.")
        return self


class Study(Record):
    """Options of a study of small models of a small language."""

    sources: Strings = ()
    """Files, folders or globs of the corpus."""
    vocabulary: str | None = None
    """File of the words of the language, of which `language.top` takes the most frequent; without a file, it takes the
    most frequent words of the corpus."""
    format: Format | None = None
    """Format of all sources; inferred from the extension of each file if not set."""
    language: dict[str, Any] = Field(default_factory=dict)
    """Options of `bitcipher study downscaling filter`."""
    tokenizer: TokenizerOptions = TokenizerOptions(**TOKENIZER_DEFAULTS)
    """Tokenizer to train on the language; the paper's is byte-level BPE."""
    choice: dict[str, Any] = Field(default_factory=dict)
    """Options of `bitcipher study downscaling choose-tokenizer`, such as `sizes` and `references` by kind. If set,
    several tokenizers are trained, and the paper's rule chooses one of them."""
    shapes: ShapeOptions = ShapeOptions()
    pretraining: PretrainingOptions = PretrainingOptions()
    downstream: DownstreamOptions = DownstreamOptions()
    seed: int = 0
    """Seed of the weights, the order of the sequences, the masks and dropout; the paper's seed is 0 (section 4.2)."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.pretraining.unconstrained and not self.language.get("unconstrained", True):
            raise ValueError(
                "`pretraining.unconstrained` needs the unfiltered text; leave out `language.unconstrained`."
            )
        try:
            self.shapes.of_kind(SHAPES[self.pretraining.architecture])
        except BitcipherError as error:
            raise ValueError(str(error)) from None
        return self


def make_study(values: dict[str, Any], source: str, settings: Sequence[str] = ()) -> Study:
    """Return a study from plain values. Missing options get the paper's values, as far as it states them.

    Args:
        values: options by group.
        source: where the values come from. Error messages begin with it.
        settings: changes, such as "pretraining.loop.max_steps=500"; values are YAML.

    Raises:
        BitcipherError: if an option does not exist or is invalid.
    """
    values = copy.deepcopy(values)
    source = apply_settings(values, source, settings)
    # Missing options of these groups get the paper's values, not the defaults of other runs.
    _fill_group(values, "tokenizer", TOKENIZER_DEFAULTS)
    _fill_group(values.setdefault("pretraining", {}), "loop", LOOP_DEFAULTS)
    return Study.parse(values, source)


def find_study(name: str) -> str:
    """Return the path of a shipped study, or `name` itself if it is a path or URI.

    Raises:
        BitcipherError: if no shipped study has this name.
    """
    return find_yaml(name, [Path(__file__).parent / "recipes"], "study")


def read_study(uri: str, settings: Sequence[str] = ()) -> Study:
    """Read a study from a YAML file, with changes; see `make_study`.

    Raises:
        BitcipherError: if the file is missing or not YAML, or an option does not exist or is invalid.
    """
    return make_study(read_yaml(uri), uri, settings)


def _fill_group(values: Any, group: str, defaults: dict[str, Any]) -> None:
    if isinstance(values, dict) and isinstance(values.get(group, {}), dict):
        values[group] = defaults | values.get(group, {})
