"""Evaluation of models: generated text, likelihoods of sentences, pairs of texts, prompts, and probes of vectors."""
