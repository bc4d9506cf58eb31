"""Conversion of the tokens of a shard back to words."""

from itertools import pairwise

import numpy as np
import pytest

from pipelines.tokenizers import spacy_english


@pytest.fixture(scope="module", autouse=True)
def passes_few_chunks_to_spacy():
    """Let spaCy split the chunks of small texts, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spacy_english, "FEW_CHUNKS", 0)
        yield


@pytest.fixture(scope="session")
def tokens_of():
    """Function that returns the tokens of each document of a shard."""

    def tokens_of(shard):
        assert (shard.ids.dtype, shard.ends.dtype) == (np.int32, np.int64)
        words = shard.words.to_pylist()
        tokens = [words[number] for number in shard.ids]
        bounds = [0, *shard.ends.tolist()]
        assert bounds[-1] == len(tokens)
        return [tokens[start:end] for start, end in pairwise(bounds)]

    return tokens_of
