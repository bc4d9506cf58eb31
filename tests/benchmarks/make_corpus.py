"""Generate text of any size whose distinct words and pairs grow as those of a real text.

    python tests/benchmarks/make_corpus.py --data ../shared/data/{gutenberg,enwiki} --tokens 1e9 --out corpus

Writes JSON lines with the field `text`; the same seed gives the same bytes. Memory holds the real text, about 6 bytes
per token, and its distinct words. Prints the numbers of documents, tokens, words and pairs as JSON. See README.md.
"""

import argparse
import json
from itertools import islice
from pathlib import Path

from json_lines import ENDINGS, JsonLinesWriter
from prepare import read_texts
from real_text import read_real_text
from text_generator import TextGenerator


def main() -> None:
    """Generate a corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", required=True, help="folders of the real text")
    parser.add_argument("--tokens", type=float, required=True, help="number of tokens to write")
    parser.add_argument("--out", type=Path, required=True, help="folder of the files, which must not exist")
    parser.add_argument("--file-megabytes", type=float, default=50, help="stored MB per file")
    parser.add_argument("--ending", choices=ENDINGS, default=".json.gz")
    parser.add_argument("--every", type=int, default=1, help="use one in EVERY documents of the real text")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = TextGenerator(read_real_text(islice(read_texts(options.data), 0, None, options.every)), options.seed)
    documents = 0
    with JsonLinesWriter(options.out, options.file_megabytes * 1e6, options.ending) as writer:
        for document in generator.documents():
            writer.write_lines(b'{"text":"' + document + b'"}\n')
            documents += 1
            if generator.tokens >= options.tokens:
                break
    sizes = {"tokens": generator.tokens, "words": generator.words, "pairs": generator.pairs}
    print(json.dumps({"documents": documents, **sizes, "files": writer.files, "bytes": writer.bytes}))


if __name__ == "__main__":
    main()
