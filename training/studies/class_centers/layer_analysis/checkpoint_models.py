"""Models of a run: the initial one, and those of its checkpoints."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitcipher.errors import BitcipherError
from training.loop.checkpoint_folders import read_checkpoint_digests
from training.models.checkpoint import load_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def checkpoint_models(
    initial: "PreTrainedModel", checkpoints: list[Path], config: Path
) -> Iterator[tuple[int, "PreTrainedModel"]]:
    """Yield the step and the model of the beginning and of each checkpoint.

    Args:
        initial: model at step 0.
        checkpoints: folders of the checkpoints.
        config: file that describes the run, for error messages.

    Raises:
        BitcipherError: if a checkpoint is damaged, or has other weights than the initial model.
    """
    shapes = _shapes(initial)
    yield 0, initial
    for path in checkpoints:
        read_checkpoint_digests(path)  # each checkpoint of a run has them
        model = load_model(str(path))
        if _shapes(model) != shapes:
            raise BitcipherError(
                f"{path} holds another model than {config} describes, so one of them is damaged: restore it from a "
                "copy."
            )
        yield int(path.name), model


def _shapes(model: "PreTrainedModel") -> dict[str, Any]:
    return {name: weights.shape for name, weights in model.state_dict().items()}
