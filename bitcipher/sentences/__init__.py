"""Embeddings of sentences from vectors of words. See the README."""

from bitcipher.sentences.sentence_encoder import SentenceEncoder

__all__ = ["SentenceEncoder"]
