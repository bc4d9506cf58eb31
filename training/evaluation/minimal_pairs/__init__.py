"""Evaluation of language models by minimal pairs of a grammatical and an ungrammatical sentence."""
