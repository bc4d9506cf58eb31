"""Sources that take time to count."""

from pathlib import Path

import numpy as np
from builds import write_lines


class LongFiles:
    """Files of about 1 MB. Each is one count task, which takes spaCy's rules a third of a second.

    Args:
        folder: the directory in which files are written when they are first used.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._random = np.random.default_rng(5)
        self._words = np.array(["the", "of", "don't", "U.S.", "casa", "Straße", *(f"w{i}" for i in range(20_000))])
        self._files: list[Path] = []

    def first(self, count: int) -> list[Path]:
        """Return the paths of the first files."""
        while len(self._files) < count:
            self._files.append(write_lines(self._folder / f"{len(self._files):02d}.jsonl", self._documents()))
        return self._files[:count]

    def _documents(self) -> list[str]:
        documents, size = [], 0
        while size < 1_050_000:
            ranks = np.minimum(self._random.zipf(1.3, self._random.integers(40, 1_600)), len(self._words)) - 1
            documents.append(" ".join(self._words[ranks]))
            size += len(documents[-1])
        return documents
