"""Checks of `bitcipher doctor`. Each check is a function that returns a result with advice."""
