"""Output and errors of `bitcipher explain` and `bitcipher infer`, and explanations on the explore page."""

import base64
import re
from pathlib import Path

import numpy as np
import pytest
from builds import run_build, write_lines
from html_pages import Parsed
from made_vectors import small_text

from bitcipher import CipherVectors
from bitcipher.explain.explainer import explain
from bitcipher.stored_build import open_build
from pipelines.embed.stored_counts import StoredCounts
from pipelines.options import BuildOptions
from pipelines.store.manifest import read_manifest

OPTIONS = BuildOptions(
    mode="cat",
    bits=9,
    window=2,
    tokenizer="whitespace",
    min_count=2,
    shard_mib=1,
    memory_mib=600,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Folder with a build, a build of other text, and vectors without a build."""
    folder = tmp_path_factory.mktemp("explained")
    text = [" ".join(document) for document in small_text()]
    run_build([write_lines(folder / "text.jsonl", text)], folder / "build", OPTIONS)
    run_build([write_lines(folder / "other.jsonl", text[:30])], folder / "other", OPTIONS)
    CipherVectors(["cat", "dog"], np.eye(2)).save(folder / "bare")
    return folder


@pytest.fixture
def command(monkeypatch, folder, run_command):
    monkeypatch.chdir(folder)
    return run_command


@pytest.fixture
def spectral(command, folder) -> str:
    if not (folder / "spectral").exists():
        arguments = ("--mode", "spectral", "--vector-size", "20", "--out", "spectral", "--workers", "0")
        assert command("embed", "build", *arguments)[0] == 0
    return "spectral"


def numbers_of(out: str) -> list[float]:
    """Return the contribution of each row of a table; the remainder and the sum come last."""
    return [float(number) for number in re.findall(r" ([+-]\d\.\d{4})", out.partition("\n\n")[2])]


def test_explain_two_words_prints_contributions_remainder_and_sum(command):
    code, out, errors = command("explain", "build", "w1", "w4", "--topn", "5")
    assert (code, errors) == (0, "")
    opened = open_build("build")
    explanation = opened.explain("w1", "w4", 5)
    assert out.startswith(f"w1 and w4: cosine {explanation.similarity:.4f}\n")
    numbers = numbers_of(out)
    expected = [*(each.weight for each in explanation.contributions), explanation.rest, explanation.similarity]
    assert numbers == [round(number, 4) for number in expected]
    for contribution in explanation.contributions:
        where = f"{abs(contribution.offset)} {'before' if contribution.offset < 0 else 'after'}"
        assert re.search(rf"^{contribution.word} +{where} ", out, re.MULTILINE)
    assert "all others" in out
    assert "100.0%" in out


def test_explain_one_word_by_context_and_by_dimension(command):
    code, out, _ = command("explain", "build", "w1")
    assert code == 0
    assert out.startswith("w1: cosine 1.0000\n")
    assert sum(numbers_of(out)[:-1]) == pytest.approx(1, abs=2e-3)
    code, out, _ = command("explain", "build", "w1", "--by", "dimension", "--topn", "100")
    assert code == 0
    assert len(numbers_of(out)) == 2 * 2 * 9
    assert sum(numbers_of(out)) == pytest.approx(1, abs=3e-3)


def test_vectors_are_explained_with_the_counts_of_their_build(command, spectral):
    code, out, errors = command("explain", spectral, "w1", "w4", "--counts", "build")
    assert (code, errors) == (0, "")
    assert "window" in out
    assert f"cosine {CipherVectors.load(spectral).similarity('w1', 'w4'):.4f}" in out


def test_infer_reads_a_file_of_sentences(command, folder, spectral):
    text = [" ".join("neu" if token == "w7" else token for token in document) for document in small_text()]
    (folder / "sentences.txt").write_text("\n".join(text))
    sentences = sum("neu" in line.split() for line in text)
    for arguments in (("build",), (spectral, "--counts", "build")):
        code, out, errors = command("infer", *arguments[:1], "neu", "--contexts", "sentences.txt", *arguments[1:])
        assert (code, errors) == (0, "")
        heading, first, *_ = out.splitlines()
        assert heading.startswith(f"neu (from {sentences} sentences)")
        assert re.fullmatch(r"w7 +(0\.9\d\d|1\.000)", first.strip())


def test_page_of_a_build_has_explanations(command, folder):
    assert command("explore", "build", "--out", "page.html")[0] == 0
    (data,) = Parsed((folder / "page.html").read_text()).data()
    stored = data["contributions"]
    columns = {}
    for name in ("offsets", "contexts", "weights"):
        packed = stored[name]
        columns[name] = np.frombuffer(base64.b64decode(packed["base64"]), np.dtype(packed["type"]).newbyteorder("<"))
    names = [*data["map"]["words"], *stored["words"]]
    counts = StoredCounts.of_version("build", read_manifest("build")).open()
    vectors = CipherVectors.load("build")
    for number in (0, 20, 100):
        expected = explain(vectors, counts, data["map"]["words"][number], topn=8).contributions
        entries = slice(8 * number, 8 * number + 8)
        np.testing.assert_allclose(columns["weights"][entries], [each.weight for each in expected], atol=1e-5)
        assert columns["offsets"][entries.start] == expected[0].offset
        assert names[columns["contexts"][entries.start]] == expected[0].word
    assert command("explore", "spectral" if (folder / "spectral").exists() else "bare", "--out", "page.html")[0] == 2


def test_page_of_cipher_vectors_has_no_explanations(command, folder):
    lines = write_lines(folder / "few.jsonl", [" ".join(document) for document in small_text(20)])
    options = BuildOptions(mode="cipher", bits=12, window=2, tokenizer="whitespace", memory_mib=600)
    run_build([lines], folder / "cipher", options)
    assert command("explore", "cipher", "--out", "cipher.html")[0] == 0
    (data,) = Parsed((folder / "cipher.html").read_text()).data()
    assert data["contributions"] is None


def test_mistakes_print_one_sentence(command, folder, spectral):
    (folder / "empty.txt").write_text("nothing of it here")
    (folder / "bytes.txt").write_bytes(b"caf\xe9")
    (folder / "blank.txt").write_text(" \n\n")
    for arguments, sentence in (
        (("explain", "build", "w0w"), "The word 'w0w' is not in the vocabulary"),
        (("explain", "bare", "cat"), "bare is a folder of vectors without counts"),
        (("explain", spectral, "w1", "--counts", "other"), "counts of other, version 1"),
        (("explain", "build", "w1", "--by", "color"), "got 'color'"),
        (("explain", "build", "w1", "--version", "4"), "build has no version 4"),
        (("explain", spectral, "w1", "--counts", "build", "--by", "dimension"), "by context word"),
        (("explain", "nothing", "w1"), "There is no build nothing: make one"),
        (("infer", "build", "neu", "--contexts", "empty.txt"), "give 'neu' no context"),
        (("infer", "build", "neu", "--contexts", "missing.txt"), "The file missing.txt does not exist"),
        (("infer", "build", "neu", "--contexts", "bytes.txt"), "bytes.txt is not text in UTF-8: byte 3"),
        (("infer", "build", "neu", "--contexts", "blank.txt"), "blank.txt is empty"),
    ):
        code, out, error = command(*arguments)
        assert (code, out, error.count("\n")) == (2, "", 1), (arguments, error)
        assert error.startswith("bitcipher: ")
        assert sentence in error
