"""Wrapper of products that reports progress."""

from collections.abc import Callable, Mapping

import numpy as np

from bitcipher.embedding.spectral.in_memory_products import Extension
from bitcipher.embedding.spectral.operand import Operand
from bitcipher.embedding.spectral.ppmi import Marginals
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

    @property
    def marginals(self) -> Marginals:
        """See `Products`."""
        return self._products.marginals

    def project(self, table: np.ndarray, scales: np.ndarray, landmarks: int) -> np.ndarray:
        """See `Products`."""
        return self._finish(self._products.project(table, scales, landmarks))

    def gram_product(self, table: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """See `Products`."""
        return self._finish(self._products.gram_product(table, scales))

    def context_vectors(self, table: np.ndarray, scales: np.ndarray) -> Mapping[int, Operand]:
        """See `Products`."""
        return self._products.context_vectors(table, scales)

    def extend(self, table: np.ndarray, scales: np.ndarray) -> Extension:
        """See `Products`."""
        return self._products.extend(table, scales)

    def _finish(self, product: np.ndarray) -> np.ndarray:
        self._done += 1
        self._report(f"product {self._done} of {1 + PRODUCTS}")
        return product
