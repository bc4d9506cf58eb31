"""Preparation of a training run: tokenizer, token shards, and cipher vectors of the tokens.

Results are cached in folders named after a hash of their inputs, so runs with the same inputs share them.
"""
