"""Windows of long contexts, and answers from logits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tiny_encoders import KINDS, encoder

from bitcipher.errors import BitcipherError
from training.metrics.question_answering import normalize
from training.tasks.answers import NO_CONTEXT_SCORE, decode_answers
from training.tasks.question_answering import QuestionTask
from training.tasks.squad import Question
from training.tasks.windows import NO_ANSWER, _window_bounds, make_windows

forms = pytest.mark.parametrize(("kind", "double_end"), [(kind, double) for kind in KINDS for double in (False, True)])


def question(context, *answers, asked="who ran?"):
    spans = tuple((context.index(answer), context.index(answer) + len(answer)) for answer in answers)
    return Question("q", asked, context, answers, spans)


def gold_outputs(features):
    """Return logits of 1 at the targets and 0 elsewhere."""
    shape = features.inputs["input_ids"].shape
    outputs = {}
    for name in ("start", "end"):
        outputs[f"{name}_logits"] = np.zeros(shape, np.float32)
        outputs[f"{name}_logits"][np.arange(shape[0]), features.targets[f"{name}_positions"]] = 1
    return outputs


def answer(task, made):
    features = task.features("validation", made)
    return task.predictions(features, gold_outputs(features))


@forms
@pytest.mark.parametrize("stride", [1, 5, 1000])
def test_windows_cover_every_token_of_long_context(kind, double_end, stride):
    asked = question("the cat  sat over the hill القط جلس. " * 12, asked="who sat?")
    made = encoder(kind, 40, double_end=double_end)
    windows = make_windows([asked], made, stride, max_question=64)
    (pieces,) = made.pieces([asked.context])
    (own,) = made.pieces([asked.question])
    first = len(own.ids) + made.second_at
    seen = np.zeros(len(pieces.ids), bool)
    step = min(stride, (40 - first) // 2)
    for number, (ids, offsets) in enumerate(zip(windows.inputs["input_ids"], windows.offsets, strict=True)):
        size = int(windows.inputs["attention_mask"][number].sum()) - first - 1
        part = slice(number * step, number * step + size)
        np.testing.assert_array_equal(ids[first : first + size], pieces.ids[part])
        np.testing.assert_array_equal(offsets[first : first + size], pieces.offsets[part])
        assert not offsets[:first].any()
        assert not offsets[first + size :].any()
        assert ids[first + size] == made.specials.end
        seen[part] = True
    assert seen.all()


def test_window_without_whole_answer_has_no_answer_target():
    asked = question("the mat " * 20 + "zebra lion " + "the hill " * 20, "zebra lion")
    made = encoder(length=24)
    windows = make_windows([asked], made, 1, 64)
    with_answer = windows.ends != NO_ANSWER
    assert 0 < with_answer.sum() < len(with_answer)
    np.testing.assert_array_equal(windows.starts != NO_ANSWER, with_answer)
    for offsets, start, end in zip(windows.offsets, windows.starts, windows.ends, strict=True):
        if end:
            assert asked.context[offsets[start, 0] : offsets[end, 1]] == "zebra lion"
        else:
            covered = {i for first, last in offsets for i in range(first, last)}
            assert not set(range(*asked.spans[0])) - {asked.context.index(" lion")} <= covered


@given(st.integers(0, 60), st.integers(1, 30), st.integers(1, 40), st.data())
def test_answer_of_half_a_window_is_complete_in_a_window(pieces, room, stride, data):
    windows = _window_bounds(pieces, room, stride)
    assert windows[0][0] == 0
    assert windows[-1][1] == pieces
    assert all(last - first <= room for first, last in windows)
    size = data.draw(st.integers(0, min(pieces, room // 2)))
    begin = data.draw(st.integers(0, pieces - size))
    assert any(first <= begin and begin + size <= last for first, last in windows)


def test_windows_are_in_order_of_questions():
    asked = [question("the cat sat " * 9, "cat"), question("", asked="empty?"), question("the hill", "hill")]
    windows = make_windows(asked, encoder(length=24), 8, 64)
    assert windows.questions.tolist() == sorted(windows.questions.tolist())
    assert set(windows.questions.tolist()) == {0, 1, 2}
    assert (windows.questions > 0).sum() == 2


def test_long_question_is_truncated_with_remark():
    asked = question("the cat sat on the mat", "mat", asked="why " * 200)
    task = QuestionTask("Mine", (), (asked, question("the hill", "hill")))
    made = encoder(length=20)
    features = task.features("validation", made)
    assert features.remarks == ("1 questions (validation) were too long and were truncated.",)
    assert answer(task, made)[0].text == "mat"
    with pytest.raises(BitcipherError, match="no room"):
        task.features("validation", encoder(length=4))


def test_empty_context_has_no_answer():
    task = QuestionTask("Mine", (), (question(""), question("  \n")))
    for prediction in answer(task, encoder()):
        assert prediction == ("", NO_CONTEXT_SCORE, ())
    assert task.score(answer(task, encoder()))["exact"] == 100


letters = st.characters(codec="utf-8", categories=["Ll", "Lu", "Lt", "Lo", "Nd"])
marks = st.text("\u0301\u0308\u0651\u064e\u0323", max_size=2)
words = st.one_of(
    st.sampled_from(
        ["cat", "the", "U.S.", "(1066)", "don't", "café", "cafe\u0301", "القط", "مُحَمَّد", "٪٥", "naïve,", "ﬁn"]
    ),
    st.builds(lambda stem, mark: stem + mark, st.text(letters, min_size=1, max_size=6), marks),
)
spaces = st.sampled_from([" ", " ", "  ", "\n", "\u00a0", " \t "])


@st.composite
def asked_of_words(draw):
    parts = draw(st.lists(words, min_size=1, max_size=40))
    text, spans = draw(st.sampled_from(["", " "])), []
    for part in parts:
        spans.append((len(text), len(text) + len(part)))
        text += part + draw(spaces)
    first = draw(st.integers(0, len(parts) - 1))
    last = draw(st.integers(first, min(first + 2, len(parts) - 1)))
    span = (spans[first][0], spans[last][1])
    return Question("q", draw(st.sampled_from(["who?", "من هو؟", ""])), text, (text[span[0] : span[1]],), (span,))


def is_seen(asked, made):
    """Return whether the first and last letter of the answer have tokens; the normalizer may drop them."""
    (pieces,) = made.pieces([asked.context])
    covered = {i for start, end in pieces.offsets for i in range(start, end)}
    return {asked.spans[0][0], asked.spans[0][1] - 1} <= covered


@forms
@settings(max_examples=60)
@given(data=st.data())
def test_gold_logits_give_exact_answers(kind, double_end, data):
    made = encoder(kind, 96, double_end=double_end)
    asked = [a for a in data.draw(st.lists(asked_of_words(), min_size=1, max_size=3)) if is_seen(a, made)]
    assume(asked)
    task = QuestionTask("Mine", (), tuple(asked), stride=9, max_answer=96)
    predictions = answer(task, made)
    for one, prediction in zip(asked, predictions, strict=True):
        # An answer that is longer than a window is complete in no window.
        if prediction.no_answer_score < 0:
            assert prediction.text == one.golds[0]
            assert one.context[prediction.candidates[0].start : prediction.candidates[0].end] == prediction.text
    if all(prediction.no_answer_score < 0 for prediction in predictions):
        scores = task.score(predictions)
        assert scores["exact_match"] == 100
        # In script 1.1, an answer of articles and punctuation only has an F1 of 0.
        if all(normalize(one.golds[0]) for one in asked):
            assert scores["f1"] == 100


@forms
def test_answers_are_found_in_overlapping_windows(kind, double_end):
    asked = (
        question("the  cat sat on the mat. " * 6 + "Peter  Blackburn ran " + "over the hill " * 6, "Peter  Blackburn"),
        question("القط جلس على السجادة " * 5 + "في البيت الكبير، " * 5, "البيت الكبير"),
        question("naïve cafe\u0301 and מִלָּה " * 4, "cafe\u0301"),
        question("the dog ran " * 10),
    )
    task = QuestionTask("Mine", (), asked, stride=20)
    predictions = answer(task, encoder(kind, 64, double_end=double_end))
    assert [prediction.answer_at(0.0) for prediction in predictions] == [*(a.golds[0] for a in asked[:3]), ""]
    scores = task.score(predictions)
    assert scores["exact"] == scores["f1"] == scores["best_f1"] == scores["HasAns_f1"] == scores["NoAns_f1"] == 100


def offsets_of(*spans):
    return np.array([[(0, 0), *spans]], np.int32)


CONTEXT = "one two three four"
OFFSETS = offsets_of((0, 3), (4, 7), (8, 13), (14, 18))
random_logits = st.lists(st.integers(-3, 3).map(float), min_size=5, max_size=5)


@given(random_logits, random_logits, st.integers(1, 5), st.integers(1, 12))
def test_best_spans_match_exhaustive_search(starts, ends, max_answer, n_best):
    (prediction,) = decode_answers(
        [CONTEXT], np.array([0]), OFFSETS, np.array([starts]), np.array([ends]), max_answer=max_answer, n_best=n_best
    )
    expected = sorted(
        (-(starts[i] + ends[j]), int(OFFSETS[0, i, 0]), int(OFFSETS[0, j, 1]))
        for i in range(1, 5)
        for j in range(i, min(i + max_answer, 5))
    )[:n_best]
    assert [(-c.score, c.start, c.end) for c in prediction.candidates] == expected
    assert all(CONTEXT[c.start : c.end] == c.text for c in prediction.candidates)
    assert prediction.text == prediction.candidates[0].text
    assert prediction.no_answer_score == starts[0] + ends[0] + expected[0][0]


def test_candidates_are_merged_over_windows():
    offsets = np.concatenate([OFFSETS, OFFSETS, np.zeros_like(OFFSETS)])
    starts = np.array([[5.0, 1, 0, 0, 0], [2.0, 0, 0, 4, 0], [0.0, 9, 9, 9, 9]])
    (first, second) = decode_answers(
        [CONTEXT, ""], np.array([0, 0, 1]), offsets, starts, np.zeros((3, 5)), max_answer=1, n_best=3
    )
    assert [candidate.text for candidate in first.candidates] == ["three", "one", "two"]
    # The no-answer score is the minimum over windows.
    assert first.no_answer_score == 2 - 4
    assert second == ("", NO_CONTEXT_SCORE, ())


def test_threshold_decides_between_answer_and_no_answer():
    starts = np.array([[3.0, 1, 0, 0, 0]])
    (prediction,) = decode_answers([CONTEXT], np.array([0]), OFFSETS, starts, np.zeros((1, 5)), max_answer=2, n_best=3)
    assert prediction.no_answer_score == 2
    assert (prediction.answer_at(0.0), prediction.answer_at(2.0)) == ("", "one")
    task = QuestionTask("Mine", (), (question(CONTEXT, "one"), question(CONTEXT)))
    assert task.score([prediction, prediction])["exact"] == 50
    assert replace(task, threshold=2.0).score([prediction, prediction])["HasAns_exact"] == 100


def test_nan_logits_raise():
    task = QuestionTask("Mine", (), (question(CONTEXT, "one"),))
    features = task.features("validation", encoder())
    outputs = gold_outputs(features)
    outputs["end_logits"][0, 3] = np.nan
    with pytest.raises(BitcipherError, match=r"Mine.*diverged"):
        task.predictions(features, outputs)


@pytest.mark.parametrize("option", ["stride", "max_question", "max_answer", "n_best"])
def test_options_below_1_raise(option):
    with pytest.raises(BitcipherError, match=f"`{option}` must be at least 1, got 0"):
        QuestionTask("Mine", (), (), **{option: 0})
