"""Reader of NumPy's .npy files."""

from tokenize import TokenError

import numpy as np

from bitcipher.errors import BitcipherError, first_line
from bitcipher.files import storage


def read_array(uri: str) -> np.ndarray:
    """Return the array in a .npy file. Pickled objects are refused.

    Raises:
        BitcipherError: if the file is missing or damaged, or the array is not numeric.
    """
    try:
        with storage.reading(uri) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)
    # NumPy parses the header as Python code, which can raise the last four. OverflowError: a size above those of int64.
    except (
        *(ValueError, EOFError, MemoryError, OverflowError),
        *(SyntaxError, TokenError, TypeError, RecursionError),
    ) as error:
        raise BitcipherError(f"{uri} is not a numeric array, or it is damaged: {first_line(error)}.") from None
