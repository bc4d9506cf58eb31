import uuid

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_segments import write_segment

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.segment_words import merge_words
from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.vocabulary import NO_WORDS
from pipelines.merge.vocabulary import CandidateWords, choose_vocabulary, find_candidates, read_word_list
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime


def counted(**counts):
    names = sorted(counts, key=str.encode)
    values = np.array([counts[name] for name in names])
    columns = {"word": pa.array(names, pa.large_string()), "count": values, "passages": np.minimum(values, 3)}
    return CandidateWords(0, pa.table(columns), NO_WORDS)


def test_vocabulary_follows_the_options(tmp_path):
    table = counted(the=9, cat=5, dog=5, rare=1)
    assert choose_vocabulary(table, 4, BuildOptions()).words.to_pylist() == ["the", "cat", "dog", "<oov>"]
    largest = choose_vocabulary(table, 4, BuildOptions(max_vocab_size=2))
    assert largest.words.to_pylist() == ["the", "<oov>", "cat"]  # dog and rare count as `<oov>`: 6
    (tmp_path / "list").write_text("rare\nunseen\n")
    listed = choose_vocabulary(table, 4, BuildOptions(word_list=str(tmp_path / "list")))
    assert sorted(listed.words.to_pylist()) == ["<oov>", "rare", "unseen"]


def test_known_words_keep_their_ranks():
    table = counted(the=9, cat=5, dog=7, new=6)
    known = pa.array(["cat", "the", "<oov>", "dog"], pa.large_string())
    assert choose_vocabulary(table, 4, BuildOptions(), known).words.to_pylist() == ["cat", "the", "<oov>", "dog", "new"]


def test_word_list_has_one_word_per_line(tmp_path):
    file = tmp_path / "words.txt"
    file.write_bytes("the\r\nnaïve\n\n a b \nlast".encode())
    assert read_word_list(str(file)) == ["the", "naïve", " a b ", "last"]
    file.write_bytes(b"the\n\xff")
    with pytest.raises(BitcipherError, match="is not text in UTF-8"):
        read_word_list(str(file))


texts = st.lists(st.lists(st.sampled_from("the of cat dog Zoo é 😀 <oov> a b c".split()), max_size=12), max_size=3)


@given(
    st.lists(texts, min_size=1, max_size=4),
    st.integers(1, 20),
    st.integers(1, 4),
    st.one_of(st.none(), st.integers(1, 6)),
    st.one_of(st.none(), st.lists(st.sampled_from("cat the new Zoo".split()), unique=True)),
)
@settings(max_examples=100)
def test_ranges_of_words_do_not_change_the_vocabulary(shards, range_words, min_count, size, known):
    build = f"memory://{uuid.uuid4().hex}"
    segments = [write_segment(build, f"s{i}", documents, ContextWindow(2)) for i, documents in enumerate(shards)]
    options = BuildOptions(min_count=min_count, max_vocab_size=size)
    ranked = None if known is None else pa.array([*known, "<oov>"], pa.large_string())
    passages = sum(segment.total_passages for segment in segments)
    every = merge_words([[f"{build}/{segment.parts[0]}"] for segment in segments])

    def choose(make):
        try:
            return choose_vocabulary(make(), passages, options, ranked).to_table()
        except BitcipherError as error:
            return str(error)

    whole = choose(lambda: CandidateWords(0, every, NO_WORDS))
    split = choose(lambda: find_candidates(segments, build, options, ranked, range_words, InProcessRuntime()))
    storage.remove(build)
    assert split == whole


def test_only_words_that_can_be_chosen_are_held(tmp_path):
    (tmp_path / "list").write_text("rare\nunseen\n")
    build = f"memory://{uuid.uuid4().hex}"
    text = "the the the cat cat dog dog rare".split()
    segments = [write_segment(build, "s", [text], ContextWindow(2))]

    def held(**options):
        found = find_candidates(segments, build, BuildOptions(**options), None, 100, InProcessRuntime())
        return found.words["word"].to_pylist(), tuple(found.others)

    assert held(min_count=2) == (["cat", "dog", "the"], (1, 1, 1))
    assert held(min_count=1, max_vocab_size=2) == (["cat", "the"], (2, 3, 2))
    assert held(min_count=9) == (["the"], (3, 5, 3))  # for the error message
    assert held(word_list=str(tmp_path / "list")) == (["rare"], (3, 7, 3))
    storage.remove(build)
