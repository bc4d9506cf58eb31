"""What a study of small models is made of: a language, a tokenizer, shapes, and how they are trained and judged."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError
from training.data import TokenizerOptions
from training.finetune import GLUE
from training.loop import LoopOptions
from training.scaling import SEQUENCES, Shape, larger, set_1, set_2, set_3, smallest
from training.settings import change, find_yaml, make_record

SETS = {"1": set_1, "2": set_2, "3": set_3, "smallest": smallest, "larger": larger}
STARTS = ("cold", "cipher")
LANGUAGES = ("constrained", "unconstrained")
_BATCH = 256
# Section 3.3.
TOKENIZER = {"kind": "bpe", "size": 19_000}
# As section 4.2 has it: 35,475 updates, 5 % of them to warm up. Its rates are misprinted (0.5 and 0.1); this one is
# said to be where they began.
LOOP = {
    "steps": SEQUENCES // _BATCH,
    "batch": _BATCH,
    "learning_rate": 6e-4,
    "warmup": 0.05,
    "schedule": "inverse-square-root",
    "beta2": 0.95,
    "evaluate_every": 1000,
    "checkpoint_every": 1000,
}


@dataclass(frozen=True)
class ShapeOptions:
    """Which models are pre-trained."""

    sets: tuple[int | str, ...] = (1, 2, 3, "smallest")
    """Of 1, 2, 3, smallest and larger (see `training.scaling`)."""
    names: tuple[str, ...] = ()
    """Further ones: embedding, hidden, intermediate, layers and heads, such as 32-32-128-2-2."""
    most: int | None = None
    """So many of them at most, chosen to span their range of FLOPs."""
    largest: str | None = None
    """None whose training sequence costs more FLOPs than this shape's."""

    def __post_init__(self) -> None:
        """Refuse names that are none."""
        for name in self.sets:
            _require(str(name) in SETS, f"There is no set of shapes {name!r}: choose {', '.join(SETS)}.")
        for name in (*self.names, *([self.largest] if self.largest else [])):
            Shape.from_name(name)
        _require(bool(self.sets or self.names), "A study needs shapes: name sets, or shapes.")
        _check_most("shapes.most", self.most)


@dataclass(frozen=True)
class PretrainingOptions:
    """How each model is pre-trained (section 4.2): masked tokens are always shown as the mask (section 3.5)."""

    loop: LoopOptions = field(default_factory=lambda: LoopOptions(**LOOP))
    starts: tuple[str, ...] = ("cold",)
    """cold, cipher or both: what the table of tokens starts from."""
    unconstrained: bool = False
    """Train each cold model on text that nothing was filtered from too, with a tokenizer of its own (appendix C)."""
    positions: int = 128
    """Tokens of a sequence."""
    dropout: float = 0.1
    share: float = 0.15
    """Of the tokens that are masked."""

    def __post_init__(self) -> None:
        """Refuse starts that are none."""
        _require(
            bool(self.starts) and set(self.starts) <= set(STARTS),
            f"A model starts {' or '.join(STARTS)}, not {', '.join(map(repr, self.starts)) or 'from nothing'}.",
        )
        _check_once("pretraining.starts", self.starts)


@dataclass(frozen=True)
class DownstreamOptions:
    """How each model is fine-tuned and judged (section 4.3)."""

    glue: str | None = None
    """Path or URI of a folder with GLUE's, named as published: CoLA, SST-2, …; without it nothing is fine-tuned."""
    tasks: tuple[str, ...] = ("cola", "sst2", "mrpc", "stsb", "rte", "wnli")
    filtered: tuple[bool, ...] = (True, False)
    """Keep only examples in the study's vocabulary (true), all (false), or do both."""
    random_twins: bool = True
    """Fine-tune each model from random weights too (filtered examples, or all where those are not asked for)."""
    seeds: int = 3
    epochs: float = 5
    batch: int = 32
    learning_rate: float = 1e-4
    """The highest one; the paper's lie from 2e-5 to 2e-4."""
    most: int | None = None
    """Fine-tune so many models at most, chosen to span the range of FLOPs."""

    def __post_init__(self) -> None:
        """Refuse tasks that are none."""
        for task in self.tasks:
            _require(task in GLUE, f"There is no task {task!r} of GLUE: choose {', '.join(GLUE)}.")
        _require(self.seeds >= 1, f"There must be 1 seed or more, not {self.seeds}.")
        _require(
            bool(self.filtered),
            "Examples are filtered, unfiltered or both: give downstream.filtered as [true], [false] or [true, false].",
        )
        _check_once("downstream.tasks", self.tasks)
        _check_once("downstream.filtered", self.filtered)
        _check_most("downstream.most", self.most)


@dataclass(frozen=True)
class Study:
    """A study of what small models make of a small language."""

    sources: tuple[str, ...] = ()
    """Files, folders or globs of the corpus."""
    vocabulary: str | None = None
    """File of the words that the language is made of; `language.top` takes the most frequent words instead."""
    format: str | None = None
    """text, jsonl, parquet or wet for all files; told by each file's ending if not given."""
    language: dict[str, Any] = field(default_factory=dict)
    """Options of `bitcipher filter`."""
    tokenizer: TokenizerOptions = field(default_factory=lambda: TokenizerOptions(**TOKENIZER))
    """Trained on the language; the paper's is byte-level BPE."""
    choice: dict[str, Any] = field(default_factory=dict)
    """Train several instead, and choose one by the paper's rule: `sizes` and `references` by kind, and further options
    of `bitcipher choose-tokenizer`."""
    shapes: ShapeOptions = field(default_factory=ShapeOptions)
    pretraining: PretrainingOptions = field(default_factory=PretrainingOptions)
    downstream: DownstreamOptions = field(default_factory=DownstreamOptions)
    seed: int = 0
    """Of weights, order, masks and dropout of pre-training (section 4.2: zero)."""

    def __post_init__(self) -> None:
        """Refuse a twin that the language does not have."""
        _require(
            not self.pretraining.unconstrained or self.language.get("unconstrained", True),
            "Models of the unconstrained language (pretraining.unconstrained) need its text: leave out "
            "language.unconstrained.",
        )


def make_study(values: dict[str, Any], origin: str, settings: Sequence[str] = ()) -> Study:
    """A study from plain values; what is left out is as in the paper.

    Args:
        values: options by group.
        origin: what to call their source in errors.
        settings: changes to them, such as "pretraining.loop.steps=500"; the value is YAML.

    Raises:
        BitcipherError: if an option does not exist, or cannot have such a value.
    """
    values = copy.deepcopy(values)
    for setting in settings:
        change(values, setting)
    # What a group leaves out is the paper's, and not the default of other runs.
    _fill(values, "tokenizer", TOKENIZER)
    _fill(values.setdefault("pretraining", {}), "loop", LOOP)
    return make_record(Study, values, origin)


def find_study(name: str) -> str:
    """The path of a study that comes with bitcipher, or the name itself where it is a file's.

    Raises:
        BitcipherError: if there is neither.
    """
    return find_yaml(name, Path(__file__).parent / "recipes", "study")


def read_study(uri: str, settings: Sequence[str] = ()) -> Study:
    """A study from a YAML file, and changes to it; see `make_study`.

    Raises:
        BitcipherError: if it is missing, is not YAML, or has options that do not exist or cannot be.
    """
    return make_study(storage.read_yaml(uri), uri, settings)


def _fill(values: Any, group: str, defaults: dict[str, Any]) -> None:
    if isinstance(values, dict) and isinstance(values.get(group, {}), dict):
        values[group] = defaults | values.get(group, {})


def _check_once(name: str, values: Sequence[Any]) -> None:
    _require(len(set(values)) == len(values), f"{name} names something twice: {', '.join(map(str, values))}.")


def _check_most(name: str, most: int | None) -> None:
    _require(most is None or most >= 2, f"A range of sizes takes 2 shapes or more: {name} must not be {most}.")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise BitcipherError(message)
