"""Write the corpora of `compare_cleaning.py`, and samples of them with equal numbers of tokens.

cleaning_corpora.py sources FOLDER DATA...              raw texts and pages, as sources of `bitcipher shard`
cleaning_corpora.py samples FOLDER SHARE SEED SIDE...   a sample of each side, FOLDER/SIDE-SEED.jsonl
"""

import json
import random
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from archive_templates import TEXT_FORMATS, iter_pages, iter_texts
from isal import isal_zlib
from make_archives import GZIP, response_record
from resiliparse.extract.html2text import extract_plain_text

from pipelines.tokenizers.registry import make_tokenizer


def write_sources(folder: Path, data: list[Path]) -> None:
    """Write texts (`texts.jsonl`), pages (`pages.warc.gz`), and all text of the pages (`page-texts.jsonl`)."""
    texts = [text for text in iter_texts(data, TEXT_FORMATS) if text.strip()]
    pages = list(dict.fromkeys(iter_pages(data)))
    _write_lines(folder / "texts.jsonl", texts)
    _write_lines(folder / "page-texts.jsonl", [extract_plain_text(page, main_content=False) for page in pages])
    with open(folder / "pages.warc.gz", "wb") as file:
        chance = random.Random(1)
        for number, page in enumerate(pages):
            uri = f"https://site-{number}.example.org/"
            record = response_record(uri, page.encode(errors="replace"), chance)
            file.write(isal_zlib.compress(record, level=1, wbits=GZIP))


def write_samples(folder: Path, share: float, seed: int, sides: list[str]) -> None:
    """Write documents of each side in random order, up to a share of the tokens of the smallest side."""
    texts = {side: _read_documents(folder / side) for side in sides}
    tokens = {side: _count_tokens(texts[side]) for side in sides}
    limit = int(min(map(sum, tokens.values())) * share)
    for side in sides:
        order = random.Random(seed).sample(range(len(texts[side])), len(texts[side]))
        chosen, total = [], 0
        for row in order:
            text = texts[side][row]
            if total + tokens[side][row] > limit:  # the last document is cut
                words = text.split(" ")
                text = " ".join(words[: len(words) * (limit - total) // tokens[side][row]])
            chosen.append(text)
            total += tokens[side][row]
            if total >= limit:
                break
        _write_lines(folder / f"{side}-{seed}.jsonl", chosen)
    print(limit)


def _write_lines(target: Path, texts: list[str]) -> None:
    with open(target, "w", encoding="ascii") as lines:
        lines.writelines(json.dumps({"text": text.encode(errors="replace").decode()}) + "\n" for text in texts)


def _read_documents(folder: Path) -> list[str]:
    """Return the texts of a folder of document shards."""
    return [
        text for file in sorted(folder.glob("documents/*.parquet")) for text in pq.read_table(file)["text"].to_pylist()
    ]


def _count_tokens(texts: list[str]) -> list[int]:
    tokens = make_tokenizer("spacy", lowercase=True).tokenize(pa.array(texts, pa.large_string()))
    return np.diff(tokens.ends, prepend=0).tolist()


if __name__ == "__main__":
    mode, target, *rest = sys.argv[1:]
    if mode == "sources":
        write_sources(Path(target), [Path(each) for each in rest])
    else:
        write_samples(Path(target), float(rest[0]), int(rest[1]), rest[2:])
