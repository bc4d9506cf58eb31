"""The `bitcipher` command line."""
