"""Keys of near duplicates: one per band of the MinHash signature of a document's shingles.

Documents with an equal band are candidates (Broder 1997, On the resemblance and containment of documents; Leskovec et
al., Mining of Massive Datasets, section 3.4). Each key carries a sketch of the whole signature, with which candidates
are compared where equal keys meet, without another lookup.
"""

import numpy as np
import pyarrow as pa
from datasketch import MinHash

from pipelines.duplicates.options import NUM_PERM, NearOptions
from pipelines.duplicates.word_hashes import HashedWords, extend_hash, mix

SKETCH_COLUMNS = ("sketch_0", "sketch_1", "sketch_2", "sketch_3")

NEAR_KEYS = pa.schema(
    {"key": pa.uint64(), "document": pa.uint64(), "priority": pa.uint64()} | dict.fromkeys(SKETCH_COLUMNS, pa.uint64())
)

# Shingles of which the signature is computed at a time. The array of their hashes, 512 kB, stays in the cache.
_CHUNK = 1024

# Stored keys depend on the permutations, so scheme and seed are fixed. A test compares signatures with constants.
_EMPTY = MinHash(NUM_PERM, seed=1, hashfunc=int, scheme="affine32")

_SPREAD = np.uint32(0x9E3779B1)  # odd, about 2^32 over the golden ratio: its product has well mixed upper bits


def near_keys(hashed: HashedWords, documents: np.ndarray, priorities: np.ndarray, options: NearOptions) -> pa.Table:
    """Return the keys of near duplicates, `NEAR_KEYS`. Documents with fewer words than a shingle have none.

    Args:
        hashed: words of the documents.
        documents: (documents,) uint64 ids.
        priorities: (documents,) uint64.
        options: shingles, and number and size of the bands.
    """
    rows, signatures = compute_signatures(hashed, options.shingle_words)
    keys = band_keys(signatures, options.bands, options.rows).ravel()
    columns = [documents[rows], priorities[rows], *make_sketches(signatures).T]
    return pa.table([keys, *(np.repeat(column, options.bands) for column in columns)], schema=NEAR_KEYS)


def compute_signatures(hashed: HashedWords, shingle_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of each document that has a shingle, and its MinHash signature, (documents, NUM_PERM) uint32."""
    shingles = hash_shingles(hashed.words, shingle_words)
    ends = hashed.word_ends
    starts = np.concatenate([[0], ends[:-1]])
    rows = np.flatnonzero(ends - starts >= shingle_words)
    signatures = np.empty((len(rows), NUM_PERM), np.uint32)
    for i, row in enumerate(rows):
        minhash = _EMPTY.copy()
        own = shingles[starts[row] : ends[row] - shingle_words + 1]
        for start in range(0, len(own), _CHUNK):
            minhash.update_batch(own[start : start + _CHUNK].tolist())
        signatures[i] = minhash.hashvalues
    return rows, signatures


def hash_shingles(words: np.ndarray, shingle_words: int) -> np.ndarray:
    """Return a hash of each `shingle_words` consecutive words, (max(0, words - shingle_words + 1),) uint32."""
    n = max(0, len(words) - shingle_words + 1)
    hashes = np.zeros(n, np.uint64)
    for offset in range(shingle_words):
        hashes = extend_hash(hashes, words[offset : offset + n])
    return mix(hashes).astype(np.uint32)


def band_keys(signatures: np.ndarray, bands: int, rows: int) -> np.ndarray:
    """Return the hash of each band with its number, (documents, bands) uint64."""
    keys = np.tile(mix(np.arange(bands, dtype=np.uint64)), (len(signatures), 1))
    values = signatures[:, : bands * rows].reshape(-1, bands, rows).astype(np.uint64)
    for row in range(rows):
        keys = extend_hash(keys, values[:, :, row])
    return mix(keys)


def make_sketches(signatures: np.ndarray) -> np.ndarray:
    """Return two bits of each signature value, (documents, 4) uint64: 128 first bits, then 128 second bits.

    Equal values have equal bits, and different values have the same two bits with a probability of 1/4 (Li & König
    2010, b-Bit Minwise Hashing).
    """
    mixed = signatures * _SPREAD
    planes = [np.packbits((mixed >> np.uint32(shift)) & 1, axis=1, bitorder="little") for shift in (31, 30)]
    return np.ascontiguousarray(np.hstack(planes)).view("<u8").astype(np.uint64, copy=False)
