"""Mode spectral: factorization of weighted counts by a block Krylov method that starts from the ciphers."""
