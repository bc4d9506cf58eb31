"""Mode spectral for counts that do not fit in memory: PPMI weighting and products, range by range.

rank_ranges     ranks of the words of each segment, and row ranges of each range of words
gather_ranges   pairs of each range of words, added up over all segments, and transposed
ppmi_ranges     weighted pairs of each range of the vocabulary, in both directions
range_products  products of all ranges with a table
factorization   the steps above, in order
progress        products that report progress
array_files     arrays in temporary files
"""

from pipelines.embed.spectral.factorization import CountPaths, factor
from pipelines.embed.spectral.progress import ProgressProducts

__all__ = ["CountPaths", "ProgressProducts", "factor"]
