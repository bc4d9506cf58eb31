"""Files of a pre-training run. This module is imported to check options, so it does not import torch."""

from pydantic import Field

from bitcipher.records import Record
from training.recipe import Recipe

CONFIG = "run.json"
RECIPE = "recipe.yaml"
EMBEDDING_INIT = "embedding_init.json"
TOKENIZER = "tokenizer.json"
# Written at the end of a trial of a study.
ENDED = "ended.json"


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
