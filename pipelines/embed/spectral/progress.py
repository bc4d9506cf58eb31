"""Wrapper of products that reports progress."""

from collections.abc import Callable

import numpy as np

from bitcipher.embedding.row_blocks import RowSource
from bitcipher.embedding.spectral.spectral_embedding import PRODUCTS, Products


class ProgressProducts:
    """Wraps `Products`, and reports progress.

    Args:
        products: the products to wrap.
        report: called with a short description of a finished step: by the constructor for weighting, and after each
            product.
    """

    def __init__(self, products: Products, report: Callable[[str], None]):
        self._products = products
        self._report = report
        self._done = 0
        report("weighted")

    def project(self, table: np.ndarray, scales: np.ndarray, landmarks: int) -> np.ndarray:
        """See `Products`."""
        return self._finish(self._products.project(table, scales, landmarks))

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        return self._finish(self._products.gram_product(table, scales))

    def extend(self, table: np.ndarray, scales: np.ndarray) -> RowSource:
        """See `Products`."""
        return self._products.extend(table, scales)

    def _finish(self, product: np.ndarray) -> np.ndarray:
        self._done += 1
        self._report(f"product {self._done} of {1 + PRODUCTS}")
        return product
