"""Products that tell of themselves, for a bar."""

from collections.abc import Callable

import numpy as np

from bitcipher.embedding.spectral import Products
from bitcipher.embedding.spectral.spectral_embedding import PRODUCTS


class ProgressProducts:
    """`Products` that tell that all is weighed, and then of each product that is done.

    Args:
        products: who does them.
        tell: called with what is done.
    """

    def __init__(self, products: Products, tell: Callable[[str], None]):
        self._products = products
        self._tell = tell
        self._done = 0
        tell("weighed")

    def project(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        return self._told(self._products.project(table, scales))

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        return self._told(self._products.gram_product(table, scales))

    def _told(self, product: np.ndarray) -> np.ndarray:
        self._done += 1
        self._tell(f"product {self._done} of {1 + PRODUCTS}")
        return product
