"""Pairs of texts in files and in token shards."""

import numpy as np
import pytest
from tiny_pairs import tiny_pairs, write_tsv

from bitcipher.errors import BitcipherError
from training.data.table_rows import list_tables
from training.data.text_pairs import PairOverlap, TextPair, count_overlap, read_text_pairs
from training.data.token_pairs import TokenPairs
from training.data.token_shards import finish_dataset, write_shard
from training.data.token_streams import TokenDataset
from training.data.tokenizer_files import plain_text_tokenizer
from training.data.train_tokenizer import train_tokenizer


def test_pairs_of_several_files_are_read_in_order(tmp_path):
    pairs = tiny_pairs()
    files = [write_tsv(tmp_path / "b.tsv", pairs[4:], names=None), write_tsv(tmp_path / "a.tsv", pairs[:4], names=None)]
    read = read_text_pairs(list_tables([str(file) for file in files]), "1", "2")
    assert read == [TextPair(*pair) for pair in pairs]
    assert read_text_pairs(list_tables([str(files[1])]), "2", "1") == [TextPair(b, a) for a, b in pairs[:4]]


def test_overlap_of_pairs():
    train = [TextPair("a", "b"), TextPair("c", "d"), TextPair("a", "b")]
    test = [TextPair("a", "b"), TextPair("a", "x"), TextPair("e", "d")]
    assert count_overlap(test, train) == PairOverlap(pairs=1, sources=2)
    assert count_overlap(test, []) == PairOverlap(0, 0)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("pairs"))
    sides = [side for pair in tiny_pairs() for side in pair]
    tokenizer = train_tokenizer(sides, "bpe", 300)
    shards = [
        write_shard(folder, "a", sides[:100], tokenizer, 0.0),
        write_shard(folder, "b", sides[100:], tokenizer, 0.0),
    ]
    finish_dataset(folder, shards, tokenizer)
    return TokenDataset.open(folder)


def test_token_pairs_are_those_of_the_texts(text):
    encoder = plain_text_tokenizer(text.tokenizer)
    expected = [[encoder.encode(side, add_special_tokens=False).ids + [2] for side in pair] for pair in tiny_pairs()]
    pairs = TokenPairs(text.train, 100, "training")
    assert (len(pairs), pairs.n_left_out) == (len(expected), 0)
    assert pairs.lengths.tolist() == [[len(source), len(target)] for source, target in expected]
    ids = np.array([0, 60, 49, 50, len(pairs) - 1, 0])  # across the shards
    sources, targets = pairs.take(ids)
    assert [[s.tolist(), t.tolist()] for s, t in zip(sources, targets, strict=True)] == [expected[i] for i in ids]


def test_long_pairs_are_left_out(text):
    every = TokenPairs(text.train, 100, "training")
    limit = int(every.lengths.max()) - 1
    some = TokenPairs(text.train, limit, "training")
    is_short = (every.lengths <= limit).all(axis=1)
    assert 0 < some.n_left_out == (~is_short).sum()
    kept = [every.take(np.array([number]))[1][0].tolist() for number in np.flatnonzero(is_short)]
    assert [target.tolist() for target in some.take(np.arange(len(some)))[1]] == kept
    with pytest.raises(BitcipherError, match=r"The training split has no pair of texts with at most 1 tokens"):
        TokenPairs(text.train, 1, "training")
