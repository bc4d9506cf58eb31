"""The build directory: layout, segments, ledger, lease and fingerprint."""
