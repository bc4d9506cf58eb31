"""Mode spectral at scale: the kept counts weighed and multiplied range by range, where they do not fit into memory.

ranks      what the segments' words are in the vocabulary, and where ranges of words lie in them
gather     a range of words added up over all segments, and seen from its right words
weigh      a range of words with all its pairs, forward and backward, weighed
multiply   the products of all ranges with a table
factoring  all of it in order
told       products that tell of themselves
"""

from pipelines.embed.spectral.factorization import CountPaths, factor
from pipelines.embed.spectral.progress import ProgressProducts

__all__ = ["CountPaths", "ProgressProducts", "factor"]
