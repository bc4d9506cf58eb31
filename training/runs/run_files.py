"""Files of a pre-training run. This module is imported to check options, so it does not import torch."""

from pydantic import Field

from bitcipher.files import storage
from bitcipher.files.records import Record
from pipelines.store.recorded_inputs import RecordedInputs
from training.loop.file_names import CONFIG
from training.objectives.text_pairs import TextPairs
from training.runs.recipe import Recipe


class PretrainingConfig(Record):
    """Inputs of a pre-training run; stored as `run.json` in its folder."""

    recipe: Recipe
    text: str
    """Folder of the token shards that the model is trained on."""
    vectors: str | None
    """Folder of the vectors of a cipher init, or None."""
    folder: str
    """Folder of the run."""
    sources: dict[str, str] = Field(default_factory=dict)
    """Name of each source by its name in token shards, for validation metrics of each source."""
    inputs: RecordedInputs | None = None
    """Files that the run was made from; None if it was made before they were recorded."""


def read_pair_columns(folder: str) -> tuple[str, str]:
    """Return the names of the columns of sources and targets that a run was trained on.

    Without such a run in the folder, they are the defaults of `TextPairs`.

    Raises:
        BitcipherError: if the run's configuration cannot be read.
    """
    pairs = None
    if storage.exists(config := storage.join(folder, CONFIG)):
        pairs = PretrainingConfig.read(config).recipe.text_pairs
    pairs = pairs or TextPairs()
    return pairs.source_column, pairs.target_column
