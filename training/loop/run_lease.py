"""Check that the launcher of a run still holds the lease of its folder.

The launcher holds the lease (see `training.runs.launch.run_dir`), and workers write to the folder. If the launcher was
suspended, another one may have taken over, and the workers of the first must stop before they write.
"""

from bitcipher.errors import BitcipherError
from pipelines.store.lease import list_generations

# Folder of the lease in a run or a study. It has another name than that of a build, so that a run is no build.
RUN_LEASE = "run-lease"


class RunLease:
    """Generation of the lease that covers a folder: its own, or that of the study it belongs to.

    Args:
        folder: path or URI of the run. A folder without a lease is not checked.
    """

    def __init__(self, folder: str):
        candidates = (folder, *_ancestors(folder))
        self.folder = next((each for each in candidates if list_generations(each, RUN_LEASE)), None)
        """Path or URI of the folder that has the lease, or None."""
        self._generation = self._newest()

    def is_lost(self) -> bool:
        """Return whether another job has taken over the folder."""
        return self._newest() != self._generation

    def error(self) -> BitcipherError:
        """Return the error to raise if the lease is lost."""
        return BitcipherError(
            f"Another job has taken over {self.folder}, because this job was suspended. Let the other job finish; it "
            "continues from the last checkpoint."
        )

    def _newest(self) -> int:
        return max(list_generations(self.folder, RUN_LEASE), default=0) if self.folder else 0


def _ancestors(folder: str) -> list[str]:
    """Return the folders two and three levels above a folder, which can be those of its study."""
    protocol, separator, path = folder.rpartition("://")
    names = path.split("/")
    return [protocol + separator + "/".join(names[:-levels]) for levels in (2, 3) if any(names[:-levels])]
