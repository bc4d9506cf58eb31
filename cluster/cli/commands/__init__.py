"""Commands of the command line; `cluster.cli.main` loads each when it runs.

The first sentence of a command's docstring is its line in `bitcipher --help`. Heavy imports (spaCy, Ray, torch,
plotting) belong in the command's function, so that `--help` and errors in arguments appear at once.
"""
