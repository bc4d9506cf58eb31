"""Train one epoch of gensim's skip-gram on a file of tokens; print the CPU seconds of scan and training as JSON.

train_word2vec.py FILE
"""

import json
import sys
import time

from gensim.models.word2vec import LineSentence, Word2Vec

if __name__ == "__main__":
    sentences = LineSentence(sys.argv[1])
    model = Word2Vec(sg=1, vector_size=200, window=4, negative=5, min_count=5, workers=1, epochs=1, seed=1)
    start = time.process_time()
    model.build_vocab(sentences)
    scanned = time.process_time()
    model.train(sentences, total_examples=model.corpus_count, epochs=model.epochs)
    print(json.dumps({"scan": scanned - start, "train": time.process_time() - scanned}))
