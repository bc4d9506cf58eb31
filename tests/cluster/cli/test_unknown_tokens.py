"""Advice of `build` for text whose words are not separated by spaces."""

import itertools

import pytest

SUBJECTS, VERBS, OBJECTS = ("我", "你", "他", "我们"), ("喜欢", "不 喜欢", "喝", "想 喝"), ("茶 。", "咖啡 。", "水 。")
SEPARATED = [" ".join(words) for words in itertools.product(SUBJECTS, VERBS, OBJECTS)]
# A sentence that occurs more often than others, so that the vocabulary has a word.
UNSEPARATED = [sentence.replace(" ", "") for sentence in [*SEPARATED, *SEPARATED[:1] * 5]]


@pytest.mark.parametrize(("sentences", "is_advised"), [(UNSEPARATED, True), (SEPARATED, False)])
def test_build_says_what_to_do_with_unseparated_words(run_command, tmp_path, sentences, is_advised):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(sentences))
    code, out, err = run_command("build", text, "--out", tmp_path / "build", "--mode", "cat")
    assert (code, err) == (0, "")
    assert ("% of the tokens are outside the vocabulary, counted as <oov>." in out) == is_advised
    assert ("as in Chinese, Japanese or Thai" in out) == is_advised


def test_small_vocabulary_on_purpose_needs_no_advice(run_command, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(SEPARATED))
    code, out, err = run_command("build", text, "--out", tmp_path / "build", "--mode", "cat", "--max-vocab-size", 2)
    assert (code, err) == (0, "")
    assert "outside the vocabulary" not in out
