"""Output and errors of `bitcipher study downscaling filter`."""

import gzip
import json
from functools import partial

import pytest

KNOWN = "The cat saw the dog, and the dog ran to the cat. "


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tales").mkdir()
    (tmp_path / "tales" / "a.txt").write_text(f"{KNOWN * 12}\n{KNOWN * 8}The zebra [/b] came.\nقال القط\n")
    (tmp_path / "words.csv").write_text("word,frequency\nthe,9\ncat,5\ndog,4\nsaw,3\nand,3\nran,2\nto,1\n")
    return tmp_path


@pytest.fixture
def run(folder, run_command):
    return partial(run_command, "study", "downscaling", "filter")


def test_filter_prints_a_summary(run, folder):
    code, out, err = run("tales", "--vocabulary", "words.csv", "--out", "language", "--held-out-share", 0)
    assert (code, err) == (0, "")
    assert "tales" in out
    assert "Most frequent unknown words: b, came, zebra, القط, قال" in out
    # Two spans of the first document, and 20 sentences: two spans of nine, with two sentences left over.
    assert "4 spans with 436 words in a vocabulary of 7 → language" in out
    assert "control sample is 2 spans too small" in out
    manifest = json.loads((folder / "language" / "accounting.json").read_text())
    assert (manifest["total"]["spans"]["kept"], manifest["total"]["sentences"]["kept"]) == (2, 20)
    again = run("tales", "--vocabulary", "words.csv", "--out", "language", "--held-out-share", 0)
    assert again == (code, out, err)


def test_options_are_recorded_in_the_manifest(run, folder):
    code, _, _ = run(
        *("tales", "--vocabulary", "words.csv", "--top", 6, "--out", "language", "--level", "spans", "--span", 11),
        *("--stride", 5, "--held-out-share", 0.25, "--no-unconstrained", "--seed", 3, "--format", "text"),
        *("--document", "file", "--field", "body"),
    )
    assert code == 0
    manifest = json.loads((folder / "language" / "accounting.json").read_text())
    assert manifest["options"] | {"vocabulary": "", "sources": ""} == {
        **{"level": "spans", "span": 11, "stride": 5, "held_out_share": 0.25, "unconstrained": False, "top": 6},
        **{"seed": 3, "format": "text", "document": "file", "field": "body", "vocabulary": "", "sources": ""},
        **{"encoding": None, "max_record_mib": 16, "max_bad_share": 0.01},
    }
    assert sum(manifest["total"]["documents"].values()) == 1
    assert "to" not in (folder / "language" / "vocabulary.txt").read_text().split()


def test_top_without_vocabulary_uses_the_most_frequent_words_of_the_sources(run, folder):
    code, _, _ = run("tales", "--top", 7, "--out", "most", "--level", "spans", "--span", 12, "--stride", 12)
    assert code == 0
    assert (folder / "most" / "vocabulary.txt").read_text().split() == ["and", "cat", "dog", "ran", "saw", "the", "to"]
    manifest = json.loads((folder / "most" / "accounting.json").read_text())
    assert manifest["options"]["top"] == 7
    assert manifest["options"]["vocabulary"] is None
    lines = gzip.decompress((folder / "most" / "constrained" / "train-00000.jsonl.gz").read_bytes()).splitlines()
    assert json.loads(lines[0]) == {"text": KNOWN.strip(), "level": "spans"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("tales",), "There is no vocabulary"),
        (("tales", "--vocabulary", "nowhere.txt"), "nowhere.txt"),
        (("nowhere", "--vocabulary", "words.csv"), "Cannot use nowhere"),
        (("tales", "--vocabulary", "words.csv", "--stride", "200"), "`stride` must be at most the span"),
        (("tales", "--vocabulary", "empty.txt"), "empty.txt contains no words"),
        (("empty.txt", "--vocabulary", "words.csv"), "All sources are empty"),
        (("tales", "--vocabulary", "tales/a.txt", "--top", "3"), "has no column of counts"),
        (("tales", "--vocabulary", "zebra.txt"), "in the vocabulary of 1 words"),
    ],
)
def test_mistakes_print_one_sentence_and_leave_no_files(run, folder, arguments, expected):
    (folder / "empty.txt").write_text("")
    (folder / "zebra.txt").write_text("zebra")
    code, out, err = run(*arguments, "--out", "language")
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1
    assert not [path for path in (folder / "language").rglob("*") if path.is_file()]
