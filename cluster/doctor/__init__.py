"""Checks of `bitcipher doctor`: one function per check, which returns a result with advice."""
