"""Command line of bitcipher, and tools to run it on clusters."""
