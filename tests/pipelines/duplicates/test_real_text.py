"""Planted copies in real text, which has boilerplate and near copies of its own."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from duplicate_reference import edit_words, jaccard

from pipelines.duplicates.copies import find_copies
from pipelines.duplicates.decisions import decide_documents
from pipelines.duplicates.keys import compute_keys
from pipelines.duplicates.near_pairs import find_near_pairs
from pipelines.duplicates.options import DuplicateOptions, NearOptions

DATA = Path(__file__).parents[4] / "shared" / "data"
FILES = [
    "enwiki/enwiki-00001-of-00004.json.gz",
    "arabic_wiki/arwiki-00001-of-00003.json.gz",
    "arabic_wiki/arzwiki-00000-of-00001.json.gz",
    "imdb/train.jsonl.gz",
    "c4_2/c4-sample-00000-of-00001.json.gz",
]


def read_texts(name):
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_planted_copies_are_found_and_different_texts_are_kept(name):
    rng = np.random.default_rng(1)
    originals = read_texts(name)
    texts, pairs = list(originals), []
    for document, text in enumerate(originals):
        words = text.split()
        if 60 <= len(words) <= 3000:
            copy = edit_words(words, rng.uniform(0.2, 1), rng)
            pairs.append((document, len(texts), jaccard(text, copy)))
            texts.append(copy)
    near = NearOptions()
    keys = compute_keys(pa.array(texts, pa.large_string()), 0, DuplicateOptions(near=near))
    decisions = decide_documents(find_copies(keys.documents), find_near_pairs(keys.near, near))
    kept = dict(zip(decisions["document"].to_pylist(), decisions["kept"].to_pylist(), strict=True))
    joined = np.array([kept.get(a, a) == kept.get(b, b) for a, b, _ in pairs])
    similarities = np.array([similarity for _, _, similarity in pairs])
    assert len(pairs) > 800
    assert joined[similarities >= 0.8].mean() >= 0.95
    assert joined[similarities < 0.5].mean() <= 0.01
    # Near copies that were in the text before.
    natural = [document for document in kept if document < len(originals) and kept[document] < len(originals)]
    assert len(natural) < 0.1 * len(originals)
