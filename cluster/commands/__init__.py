"""The commands, a file for each group; `cluster.command` puts them together.

What only some commands need (spaCy, Ray, plotting) is imported inside those, so that the others start sooner.
"""
