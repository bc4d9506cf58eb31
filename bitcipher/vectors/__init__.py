"""`CipherVectors`: word vectors with gensim's methods, and `WordIndex` for approximate neighbor search."""
