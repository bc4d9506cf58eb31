"""Verification of stored files: finds damage by reading everything.

Input: the folder of a build, of vectors, or of document shards. Output: a list of damaged files, each with a sentence
about the damage, what the file holds, and how to replace it. Nothing is changed.
"""
