import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.evaluation import analogies
from bitcipher.files import storage
from bitcipher.vectors.cipher_vectors import CipherVectors

WORDS = [f"w{i}" for i in range(30)] + ["W3", "W7", "Paris"]


def structured_vectors(seed):
    """Return vectors with many equal differences, so that some answers are correct."""
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
def test_sections_match_gensim(tmp_path, case_insensitive, dummy4unknown, restrict_vocab):
    vectors = structured_vectors(0)
    path = questions_file(tmp_path / "questions.txt", 1)
    options = {
        "restrict_vocab": restrict_vocab,
        "case_insensitive": case_insensitive,
        "dummy4unknown": dummy4unknown,
    }
    found = vectors.evaluate_word_analogies(path, **options)
    score, sections = vectors.to_gensim().evaluate_word_analogies(str(path), **options)
    assert 0.05 < score < 0.95
    assert found.accuracy == pytest.approx(score)
    for ours, theirs in zip((*found.sections, found.total), sections, strict=True):
        assert (ours.correct, ours.scored) == (len(theirs["correct"]), len(theirs["correct"] + theirs["incorrect"]))
    assert [section.name for section in found.sections] == ["first", "gram second"]
    assert found.coverage == pytest.approx(found.total.covered / found.total.questions)
    assert found.coverage < 1


def random_questions(seed):
    random = np.random.default_rng(seed)
    lines = [" ".join(random.choice(WORDS, 4, replace=False)) for _ in range(50)]
    return "\n".join([": random", *lines]).encode()


@given(st.integers(0, 99), st.integers(1, 40), st.integers(1, 40))
@settings(max_examples=25)
def test_answers_do_not_depend_on_block_sizes(seed, block_questions, block_rows):
    path = f"memory://analogies/{seed}.txt"
    vectors = structured_vectors(seed)
    with storage.writing(path) as stream:
        stream.write(random_questions(seed))
    whole = vectors.evaluate_word_analogies(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analogies, "BLOCK_QUESTIONS", block_questions)
        patch.setattr(analogies, "BLOCK_ROWS", block_rows)
        assert vectors.evaluate_word_analogies(path) == whole


def test_oov_and_zero_vectors_are_never_answers(tmp_path):
    # b - a + c equals the vector of <oov>, and d is the next nearest.
    words = ["a", "b", "c", "<oov>", "zero", "d"]
    rows = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0], [0.2, 1, 1]], np.float32)
    path = tmp_path / "questions.txt"
    path.write_text(": one\na b c d\n")
    assert CipherVectors(words, rows).evaluate_word_analogies(path).accuracy == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (": s\na b c\n", "Line 2 .* has 3 words"),
        ("a b c d\n", "Line 1 .* precedes the first section"),
        (": s\n", "no analogy questions"),
        ("", "no analogy questions"),
        (": s\nein zwei drei vier\n", "covers none of the questions"),
    ],
)
def test_invalid_file_raises(tmp_path, content, message):
    path = tmp_path / "questions.txt"
    path.write_text(content)
    with pytest.raises(BitcipherError, match=message):
        structured_vectors(0).evaluate_word_analogies(path)
