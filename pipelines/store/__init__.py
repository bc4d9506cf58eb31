"""The build directory: layout, manifests, segments, ledgers, lease and fingerprints."""
