"""The commands, a file for each group; `cluster.cli.main` puts them together.

What only some commands need (spaCy, Ray, plotting) is imported inside those, so that the others start sooner.
"""
