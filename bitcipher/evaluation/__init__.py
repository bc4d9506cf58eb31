"""Intrinsic evaluation of word vectors: word similarity, analogies and neighbor stability."""
