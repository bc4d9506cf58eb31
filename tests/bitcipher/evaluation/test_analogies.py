import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.evaluation import analogies
from bitcipher.vectors import CipherVectors

WORDS = [f"w{i}" for i in range(30)] + ["W3", "W7", "Paris"]


def gensims(vectors):
    keyed = KeyedVectors(vectors.vector_size)
    keyed.add_vectors(vectors.index_to_key, np.asarray(vectors.vectors))
    return keyed


def structured(seed):
    """Vectors in which many differences are the same, so that some answers are right."""
    random = np.random.default_rng(seed)
    base, step = random.normal(size=(11, 6)), random.normal(size=(3, 6))
    rows = np.array([base[i % 11] + step[i % 3] for i in range(len(WORDS))]) + random.normal(0, 0.3, (len(WORDS), 6))
    return CipherVectors(WORDS, rows.astype(np.float32))


def questions_file(path, seed, number=60):
    random = np.random.default_rng(seed)
    lines = []
    for section in ("first", "gram second"):
        lines.append(f": {section}")
        lines += [" ".join(random.choice([*WORDS, "unicorn"], 4, replace=False)) for _ in range(number)]
        # a : b = c : d with the same difference
        lines += [f"w{i} w{i + 11} w{j} w{j + 11}" for i, j in random.integers(0, 11, (number, 2)) if i != j]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("case_insensitive", [True, False])
@pytest.mark.parametrize("dummy4unknown", [True, False])
@pytest.mark.parametrize("restrict_vocab", [300_000, 25])
def test_sections_are_gensims(tmp_path, case_insensitive, dummy4unknown, restrict_vocab):
    vectors = structured(0)
    path = questions_file(tmp_path / "questions.txt", 1)
    chosen = {
        "restrict_vocab": restrict_vocab,
        "case_insensitive": case_insensitive,
        "dummy4unknown": dummy4unknown,
    }
    found = vectors.evaluate_word_analogies(path, **chosen)
    score, sections = gensims(vectors).evaluate_word_analogies(str(path), **chosen)
    assert 0.05 < score < 0.95
    assert found.accuracy == pytest.approx(score)
    for ours, theirs in zip((*found.sections, found.total), sections, strict=True):
        assert (ours.correct, ours.asked) == (len(theirs["correct"]), len(theirs["correct"] + theirs["incorrect"]))
    assert [section.name for section in found.sections] == ["first", "gram second"]
    assert found.coverage == pytest.approx(found.total.covered / found.total.questions)
    assert found.coverage < 1


def some_questions(seed):
    random = np.random.default_rng(seed)
    lines = [" ".join(random.choice(WORDS, 4, replace=False)) for _ in range(50)]
    return "\n".join([": some", *lines]).encode()


@given(st.integers(0, 99), st.integers(1, 40), st.integers(1, 40))
@settings(max_examples=25)
def test_answers_do_not_depend_on_how_the_table_is_walked(seed, block_questions, block_rows):
    path = f"memory://analogies/{seed}.txt"
    vectors = structured(seed)
    with storage.writing(path) as stream:
        stream.write(some_questions(seed))
    whole = vectors.evaluate_word_analogies(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analogies, "BLOCK_QUESTIONS", block_questions)
        patch.setattr(analogies, "BLOCK_ROWS", block_rows)
        assert vectors.evaluate_word_analogies(path) == whole


def test_oov_and_zero_vectors_are_no_answers(tmp_path):
    # b - a + c is the vector of <oov>, and next to it that of d.
    words = ["a", "b", "c", "<oov>", "zero", "d"]
    rows = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0], [0.2, 1, 1]], np.float32)
    path = tmp_path / "questions.txt"
    path.write_text(": one\na b c d\n")
    assert CipherVectors(words, rows).evaluate_word_analogies(path).accuracy == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (": s\na b c\n", r"Line 2 of .* has 3 words, where a question has four"),
        ("a b c d\n", r"Line 1 of .* stands before any section"),
        (": s\n", r"holds no questions"),
        ("", r"holds no questions"),
        (": s\nein zwei drei vier\n", r"hold all four words of none of the questions"),
    ],
)
def test_a_damaged_file_is_told_in_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "questions.txt"
    path.write_text(content)
    with pytest.raises(BitcipherError, match=sentence):
        structured(0).evaluate_word_analogies(path)
