"""Train one epoch of gensim's skip-gram on a file of tokens; print the CPU seconds of scan and training as JSON.

train_word2vec.py FILE [FOLDER]     FOLDER gets the vectors, as `CipherVectors.save` writes them
"""

import json
import sys
import time

from gensim.models.word2vec import LineSentence, Word2Vec


def main(tokens: str, *folders: str) -> None:
    """Train, print, and write the vectors if there is a folder."""
    sentences = LineSentence(tokens)
    model = Word2Vec(sg=1, vector_size=200, window=4, negative=5, min_count=5, workers=1, epochs=1, seed=1)
    start = time.process_time()
    model.build_vocab(sentences)
    scanned = time.process_time()
    model.train(sentences, total_examples=model.corpus_count, epochs=model.epochs)
    print(json.dumps({"scan": scanned - start, "train": time.process_time() - scanned}))
    for folder in folders:
        # Imported here, so that its import is not part of what is measured
        from bitcipher.vectors.cipher_vectors import CipherVectors

        CipherVectors.from_gensim(model.wv).save(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
