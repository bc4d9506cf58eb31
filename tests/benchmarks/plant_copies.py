"""Write a corpus with planted near copies, as JSON lines that both sides of `duplicates` read. This is not measured.

plant_copies.py FOLDER DATA...

Writes FOLDER/corpus/00000.jsonl and so on, and FOLDER/pairs.txt with one planted pair per line: file and row of a
document, file and row of its copy, and the Jaccard similarity of their sets of five consecutive words. Books are split
into parts. Similarities are spread evenly from 0.2 to 1. Half of the copies have single words replaced, and half have a
run of words replaced, by words of another document.
"""

import json
import random
import re
import sys
from pathlib import Path

from prepare import read_texts

FILES = 8
PART_WORDS = 2_000
MIN_WORDS = 60  # of a document with a copy
COPIED = 4  # every fourth document has a copy
SHINGLE = 5


def main(target: str, *data: str) -> None:
    """Write the corpus and its pairs."""
    corpus = Path(target) / "corpus"
    corpus.mkdir(parents=True)
    rng = random.Random(1)
    rows = [0] * FILES
    pairs = []
    words: list[str] = ["text"]
    with_files = [(corpus / f"{i:05d}.jsonl").open("w", encoding="utf-8") for i in range(FILES)]

    def write(text: str) -> tuple[int, int]:
        file = rng.randrange(FILES)
        with_files[file].write(json.dumps({"text": text, "id": f"{file}-{rows[file]}"}) + "\n")
        rows[file] += 1
        return file, rows[file] - 1

    for text in read_texts(list(data)):
        for part in split_text(text):
            donor, words = words, part.split()
            if not words:
                continue
            own = write(part)
            if len(words) >= MIN_WORDS and rng.randrange(COPIED) == 0:
                copy = edit(words, donor, rng.uniform(0.2, 1), rng)
                pairs.append((*own, *write(copy), jaccard(part, copy)))
    for file in with_files:
        file.close()
    lines = (" ".join(map(str, pair[:4])) + f" {pair[4]:.4f}\n" for pair in pairs)
    (Path(target) / "pairs.txt").write_text("".join(lines))


def split_text(text: str) -> list[str]:
    """Return a text in parts of at most `PART_WORDS` words."""
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    return [
        text[spans[start][0] : spans[min(start + PART_WORDS, len(spans)) - 1][1]]
        for start in range(0, len(spans), PART_WORDS)
    ]


def edit(words: list[str], donor: list[str], similarity: float, rng: random.Random) -> str:
    """Return a copy with about the given Jaccard similarity, by replacing words with those of another document."""
    words = list(words)
    kept = 2 * similarity / (1 + similarity)  # share of shingles that stay
    if rng.random() < 0.5:
        replaced = 1 - kept ** (1 / SHINGLE)
        for i in range(len(words)):
            if rng.random() < replaced:
                words[i] = rng.choice(donor)
    else:
        size = int((1 - kept) * len(words))
        start = rng.randrange(len(words) - size + 1)
        words[start : start + size] = [rng.choice(donor) for _ in range(size)]
    return " ".join(words)


def jaccard(text: str, other: str) -> float:
    """Return the Jaccard similarity of the sets of five consecutive words."""
    first, second = (shingles(each) for each in (text, other))
    return len(first & second) / len(first | second)


def shingles(text: str) -> set[tuple[str, ...]]:
    """Return the sets of five consecutive words, without case and punctuation."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)}


if __name__ == "__main__":
    main(*sys.argv[1:])
