"""Vocabularies of a filter, from files and from the sources."""

import gzip

import pytest

from bitcipher.errors import BitcipherError
from pipelines.ingest.readers import ReadOptions
from pipelines.ingest.sources import list_sources
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from training.studies.downscaling.filter.filter_stage import FilterInput
from training.studies.downscaling.filter.vocabulary import count_vocabulary, read_vocabulary


def count(folder, top):
    sources = list_sources([str(folder)])
    inputs = [FilterInput(f"{number:05d}", source, "both") for number, source in enumerate(sources)]
    work = str(folder.parent / "work")
    return count_vocabulary(inputs, ReadOptions(), top, work, InProcessRuntime(), StageProgress())


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text("The cat, the cat!\nThe dog's well-known 3 dogs\n")
    (folder / "b.txt.gz").write_bytes(gzip.compress("القط قال the b a\n".encode()))
    return folder


def test_most_frequent_words_of_sources_in_alphabetical_order_for_ties(corpus):
    assert count(corpus, 2) == {"the", "cat"}
    assert count(corpus, 4) == {"the", "cat", "dogs", "a"}
    assert count(corpus, 99) == {"the", "cat", "a", "b", "dogs", "well", "known", "القط", "قال"}


def test_counted_sources_are_not_counted_again(corpus):
    count(corpus, 2)
    (corpus / "a.txt").write_text("Other words\n")
    assert count(corpus, 2) == {"the", "cat"}


def test_sources_without_words_raise(corpus):
    for file in corpus.iterdir():
        file.unlink()
    (corpus / "numbers.txt").write_text("1 2 3\n")
    with pytest.raises(BitcipherError, match="no words of letters"):
        count(corpus, 2)


def test_top_selects_the_most_frequent_words_of_a_file(tmp_path):
    (tmp_path / "words.csv").write_text("word,count\nb,2\na,2\nc,3\n")
    assert read_vocabulary(str(tmp_path / "words.csv"), 2) == {"c", "a"}
    assert read_vocabulary(str(tmp_path / "words.csv"), None) == {"a", "b", "c"}
