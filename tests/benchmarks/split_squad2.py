"""Split questions of SQuAD 2.0 anew: some articles of the dev split become training articles.

    python tests/benchmarks/split_squad2.py train-v2.0.json.gz half-v2.0.json.gz dev-v2.0.json.gz --out squad2

The second file has a part of the dev split's articles, such as those that the course CS224N uses. They are added to the
training articles, and left out of the dev split. Prints the numbers of articles and questions as JSON.
"""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any


def read_articles(path: Path) -> dict[str, dict[str, Any]]:
    """Return the articles of a file of questions by their titles."""
    return {article["title"]: article for article in json.loads(gzip.decompress(path.read_bytes()))["data"]}


def main() -> None:
    """Write the training and the dev file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, text in {"train": "training questions", "half": "a part of the dev split", "dev": "dev split"}.items():
        parser.add_argument(name, type=Path, help=f"{text}, gzip")
    parser.add_argument("--out", type=Path, required=True, help="folder for train-v2.0.json.gz and dev-v2.0.json.gz")
    options = parser.parse_args()
    train, half, dev = (read_articles(path) for path in (options.train, options.half, options.dev))
    rest = {title: article for title, article in dev.items() if title not in half}
    options.out.mkdir(parents=True, exist_ok=True)
    for name, articles in (("train", train | half), ("dev", rest)):
        content = json.dumps({"version": "v2.0", "data": list(articles.values())}).encode()
        (options.out / f"{name}-v2.0.json.gz").write_bytes(gzip.compress(content, mtime=0))
        paragraphs = [paragraph for article in articles.values() for paragraph in article["paragraphs"]]
        questions = sum(len(paragraph["qas"]) for paragraph in paragraphs)
        print(json.dumps({"split": name, "articles": len(articles), "questions": questions}))


if __name__ == "__main__":
    main()
