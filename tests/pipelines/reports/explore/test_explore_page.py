"""Explorer page: contents, self-containment, size, and escaping of words."""

import base64
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from html_pages import EVIL, Parsed, assert_whole

from bitcipher.errors import BitcipherError
from bitcipher.explain.contributions import Contribution
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.reports.explore import page
from pipelines.reports.explore.page import Baseline, write_page

WORDS = ["the", "<oov>", "zero", *EVIL, *(f"w{number}" for number in range(30))]


def numbers(packed: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["base64"]), np.dtype(packed["type"]).newbyteorder("<"))


def table(words: Sequence[str], seed: int = 20) -> CipherVectors:
    rows = np.random.default_rng(seed).normal(size=(len(words), 8))
    rows[[row for row, word in enumerate(words) if word == "zero"]] = 0
    return CipherVectors(words, rows, counts=np.arange(len(words), 0, -1))


def explain(rows: Sequence[int]) -> list[list[Contribution]]:
    """Return contributions whose offset and weight identify the row."""
    return [
        [Contribution(row % 5 - 2, EVIL[0], row + 0.5), Contribution(0, "no word of the page", -1.0)][: row % 3]
        for row in rows
    ]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Parsed]:
    def write(name: str = "name", **arguments) -> Parsed:
        target = str(tmp_path / "page.html")
        write_page(target, name, **{"vectors": table(WORDS), "max_words": 1_000, **arguments})
        return Parsed(Path(target).read_text("utf-8"))

    return write


def test_page_has_words_ranks_counts_and_neighbors(written):
    vectors = table(WORDS)
    parsed = written("some vectors", vectors=vectors, max_words=20)
    (data,) = parsed.data()
    shown = [word for word in WORDS if word not in ("<oov>", "zero")][:20]
    assert data["map"]["words"] == shown
    assert numbers(data["ranks"]).tolist() == [WORDS.index(word) + 1 for word in shown]
    assert data["counts"] == [len(WORDS) - WORDS.index(word) for word in shown]
    assert parsed.texts["h1"] == [""]
    assert "some vectors" in parsed.texts["bdi"]
    assert any(f"{len(WORDS)} words, 8 dimensions; here the 20 most frequent" in text for text in parsed.texts["p"])
    neighbors = numbers(data["neighbors"]).reshape(20, 10)
    cosines = numbers(data["cosines"]).reshape(20, 10) / 32767
    among = CipherVectors(shown, vectors[shown])
    for number, word in enumerate(shown):
        expected = among.most_similar(word)
        assert [shown[other] for other in neighbors[number]] == [other for other, _ in expected]
        np.testing.assert_allclose(cosines[number], [cosine for _, cosine in expected], atol=5e-5)


def test_explanations_are_stored_per_word(written):
    (data,) = written(explanations=explain, max_words=12).data()
    output = data["contributions"]
    assert (output["size"], output["words"]) == (8, ["no word of the page"])
    offsets, contexts, weights = (
        numbers(output[name]).reshape(12, 8).tolist() for name in ("offsets", "contexts", "weights")
    )
    for number, row in enumerate(numbers(data["ranks"]).astype(int) - 1):
        (expected,) = explain([row])
        filled = [0.0] * (8 - len(expected))
        assert weights[number] == [each.weight for each in expected] + filled
        assert offsets[number][: len(expected)] == [each.offset for each in expected]
        names = [*data["map"]["words"], *output["words"]]
        assert [names[context] for context in contexts[number][: len(expected)]] == [each.word for each in expected]


def test_page_of_vectors_without_counts_has_no_explanations(written):
    (data,) = written(vectors=CipherVectors(WORDS, table(WORDS).vectors)).data()
    assert data["counts"] is data["contributions"] is data["before"] is None


def test_equal_vectors_give_equal_bytes(tmp_path):
    for name in ("one", "other"):
        write_page(str(tmp_path / name), "x", table(WORDS), 30, explain, Baseline("old", table(WORDS[5:], seed=1)))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_words_are_escaped(written):
    old = [*EVIL, *(f"{word} once" for word in EVIL), *WORDS[-9:]]
    parsed = written(EVIL[0], explanations=explain, before=Baseline(EVIL[1], table(old, seed=1)))
    assert_whole(parsed)
    assert not {"img", "b", "iframe", "object", "a"} & {tag for tag, _ in parsed.tags}
    assert parsed.texts["title"] == [f"Words of {EVIL[0]}"]
    assert len(parsed.scripts()) == len(page.SCRIPTS) + 4
    assert not [text for text in parsed.scripts() if "alert(" in text]
    (data,) = parsed.data()
    assert set(EVIL) <= set(data["map"]["words"])
    assert data["before"]["removed_words"] == [f"{word} once" for word in EVIL]


def test_invalid_pages_raise_and_leave_no_file(tmp_path):
    target = tmp_path / "page.html"
    with pytest.raises(BitcipherError, match="A map needs at least 5 words"):
        write_page(str(target), "few", table(WORDS[:5]), 1_000)
    assert not target.exists()
    target.write_text("mine")
    with pytest.raises(BitcipherError, match=r"page\.html already exists"):
        write_page(str(target), "again", table(WORDS), 1_000)
    assert target.read_text() == "mine"


def test_progress_of_all_steps_is_reported(written):
    done, totals = {}, {}

    def advance(stage: str, more: int, total: int) -> None:
        done[stage] = done.get(stage, 0) + more
        totals[stage] = total

    written(explanations=explain, before=Baseline("old", table(WORDS)), advance=advance)
    assert list(done) == ["neighbors", "layout", "explain", "compare"]
    assert done == totals


@pytest.mark.slow
def test_page_of_fifty_thousand_words_is_below_20_megabytes(tmp_path):
    random = np.random.default_rng(20)
    words = [f"word{number}" for number in range(50_000)]
    centers = random.normal(size=(400, 200)).astype(np.float32)
    rows = centers[random.integers(0, 400, 50_000)] + random.normal(size=(50_000, 200)).astype(np.float32)
    vectors = CipherVectors(words, rows, counts=10**9 // np.arange(1, 50_001))
    before = CipherVectors(words[::-1], rows[::-1] + random.normal(0, 0.5, rows.shape).astype(np.float32))

    def explain_all(rows: Sequence[int]) -> list[list[Contribution]]:
        return [[Contribution(n % 4 - 4, f"word{(row * 8 + n) % 90_000}", n / 7) for n in range(8)] for row in rows]

    write_page(str(tmp_path / "page.html"), "x", vectors, 50_000, explain_all, Baseline("old", before))
    assert (tmp_path / "page.html").stat().st_size < 20_000_000
