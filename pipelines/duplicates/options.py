"""Options of the search for duplicates."""

from math import sqrt

from pydantic import Field

from bitcipher.files.records import Float, Record

# Number of hash functions of a MinHash signature. A power of two, as in datasketch's default.
NUM_PERM = 128

# Bits of each value of the signature that a sketch keeps (b-bit minwise hashing, Li & König 2010).
SKETCH_BITS = 2

# Probability that a pair exactly at the threshold shares a band.
_BAND_RECALL = 0.99

# Standard deviations between the threshold and the lowest accepted estimate: 97.7 % of pairs at the threshold pass.
_MARGIN = 2


class ParagraphOptions(Record):
    """Options of repeated paragraphs. A paragraph is a line of the text."""

    min_words: int = Field(20, ge=1)
    """Minimum number of words of a paragraph that counts as a copy; shorter ones can recur by coincidence."""


class HostLineOptions(Record):
    """Options of lines that recur on a host, such as menus and notices."""

    min_documents: int = Field(10, ge=2)
    """Minimum number of documents of a host that contain a line. The line is removed from all of them."""


class NearOptions(Record):
    """Options of near duplicates: MinHash signatures of word shingles, and locality-sensitive hashing."""

    threshold: Float = Field(0.8, ge=0.5, le=0.99)
    """Jaccard similarity of the shingle sets above which documents are near duplicates."""
    shingle_words: int = Field(5, ge=1, le=50)
    """Number of words of a shingle. Documents with fewer words have no near duplicates."""

    @property
    def rows(self) -> int:
        """Number of signature values per band: the largest with which the bands find pairs at the threshold."""
        return max(r for r in range(1, NUM_PERM + 1) if _found(self.threshold, NUM_PERM // r, r) >= _BAND_RECALL)

    @property
    def bands(self) -> int:
        """Number of bands: the smallest that finds 99 % of pairs at the threshold.

        Two documents share a band with the probability 1 - (1 - s^rows)^bands, where s is their Jaccard similarity
        (Leskovec et al., Mining of Massive Datasets, section 3.4.2).
        """
        rows = self.rows
        return min(b for b in range(1, NUM_PERM // rows + 1) if _found(self.threshold, b, rows) >= _BAND_RECALL)

    @property
    def max_distance(self) -> int:
        """Maximum number of the 128 values in which the sketches of near duplicates differ.

        Values of documents with the Jaccard similarity s differ with the probability (1 - s) · (1 - 2^-SKETCH_BITS).
        The maximum has a margin for the error of the estimate at the threshold.
        """
        differ = (1 - self.threshold) * (1 - 2**-SKETCH_BITS)
        return int(NUM_PERM * differ + _MARGIN * sqrt(NUM_PERM * differ * (1 - differ)))


class DuplicateOptions(Record):
    """Options of the search for duplicates. A kind of duplicates that is null is not searched."""

    documents: bool = True
    """Drop documents whose words are those of another document."""
    paragraphs: ParagraphOptions | None = None
    """Remove paragraphs that are copies of a paragraph of the same or another document."""
    host_lines: HostLineOptions | None = None
    """Remove lines that recur in many documents of a host; only documents with a URL have a host."""
    near: NearOptions | None = NearOptions()
    """Drop documents whose shingles are nearly those of another document; this includes most exact copies."""


def _found(similarity: float, bands: int, rows: int) -> float:
    return 1 - (1 - similarity**rows) ** bands
