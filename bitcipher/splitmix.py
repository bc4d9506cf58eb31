"""Constants of SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators").

Hashes and counter-based random numbers are made with them. All are odd numbers of 64 bits.
"""

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ over the golden ratio: the increment of the generator, which also spreads keys over a table."""
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
"""First multiplier of the finalizer."""
MIX_2 = np.uint64(0x94D049BB133111EB)
"""Second multiplier of the finalizer."""
