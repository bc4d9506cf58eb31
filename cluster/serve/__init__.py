"""`bitcipher serve`: a read-only HTTP service of the vectors of a build. See the README."""
