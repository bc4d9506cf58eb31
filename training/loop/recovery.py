"""Return to an older checkpoint when the latest one is damaged."""

from collections.abc import Iterable
from pathlib import Path

from bitcipher.errors import BitcipherError
from training.loop.checkpoint_folders import check_checkpoint, remove_checkpoint
from training.loop.metrics_logger import check_metrics_of


def drop_damaged_checkpoints(folder: Path, checkpoints: Iterable[Path]) -> str | None:
    """Read the latest checkpoint of a run; if it is damaged, remove it if an older one is intact.

    A resumed run writes what was removed again, with the same bytes.

    Args:
        folder: folder of the run, which no other job writes to.
        checkpoints: its checkpoints, the latest first; only those up to the first intact one are asked for.

    Returns:
        A sentence on what was removed, or None if nothing was.

    Raises:
        BitcipherError: if all checkpoints are damaged, or the metrics up to them are. Then nothing is removed.
    """
    damaged: list[tuple[Path, BitcipherError]] = []
    for checkpoint in checkpoints:
        try:
            check_checkpoint(checkpoint)
            check_metrics_of(folder, checkpoint)
        except BitcipherError as error:
            damaged.append((checkpoint, error))
            continue
        break
    else:
        if damaged:
            raise damaged[0][1]
        return None
    for each, _ in damaged:
        remove_checkpoint(each)
    return f"{damaged[0][1]} It was removed, and the run resumes from {checkpoint}." if damaged else None
