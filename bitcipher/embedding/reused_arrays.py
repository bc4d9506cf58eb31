"""`ReusedArrays`: memory for large results that are needed one after the other.

The first use of memory takes longer than many computations with it, because the operating system, and that of a virtual
machine, have to find it. A loop over large blocks is therefore faster if its results share memory.
"""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike


class ReusedArrays:
    """Arrays by name, each in the memory of the preceding array of that name, which loses its content."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def empty(self, name: str, size: int, dtype: DTypeLike) -> np.ndarray[Any, Any]:
        """Return an array with any content, (size,). Use one name for arrays of one type."""
        if name not in self._arrays or len(self._arrays[name]) < size:
            self._arrays.pop(name, None)  # before more is allocated
            self._arrays[name] = np.empty(size, dtype)
        return self._arrays[name][:size]
