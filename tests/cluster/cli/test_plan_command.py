"""Output and errors of `bitcipher plan`."""

import tempfile

import pytest
from builds import write_lines

ITEMS = (
    *("tokens", "text", "shards", "words", "pairs", "vocabulary", "stored after publishing and pruning"),
    *("stored at most, during the build", "shuffle: read by merging", "shuffle: written by merging"),
    *("requests to the store, roughly", "stored: shards", "stored: merged segments"),
    *("identify", "count", "merge", "words", "embed", "all", "core-hours", "wall time"),
    *("stored: vectors of a version", "counting worker", "merging worker", "embedding worker", "driver"),
    *("Growth of words: exponent", "Growth of pairs: exponent", "error of the fit"),
)


@pytest.fixture
def run(monkeypatch, tmp_path, run_command):
    """Run `plan` in process; return exit code, stdout and stderr."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def call(*arguments):
        result = run_command("plan", *arguments)
        assert not list(scratch.iterdir())
        return result

    return call


@pytest.mark.long
def test_plan_prints_all_quantities(run, corpus):
    code, out, err = run(corpus, "--tokenizer", "whitespace", "--nodes", 3, "--cores", 8, "--memory-gb", 64)
    assert (code, err) == (0, "")
    assert [item for item in ITEMS if item not in out] == []
    assert "3 nodes of 8 cores and 64 GB" in out
    assert "24 workers" in out


@pytest.mark.long
def test_plan_prints_the_share_of_bad_records(run, documents, tmp_path):
    path = write_lines(tmp_path / "a.jsonl", documents)
    path.write_text(path.read_text() + "{\n" * 40)
    code, out, _ = run(path, "--tokenizer", "whitespace")
    assert code == 0
    share = 40 / (len(documents) + 40)
    assert f"; 40 of {len(documents) + 40:,} records are bad ({share:.1%})" in out
    assert f"Limit: 40 of the first {len(documents) + 40:,} records of {path} are bad" in out
    code, out, _ = run(path, "--tokenizer", "whitespace", "--max-bad-share", 0.5)
    assert (code, "records are bad" in out, "Limit: 40" in out) == (0, True, False)


@pytest.mark.long
def test_plan_of_a_trillion_tokens_has_ranges_and_limits(run, corpus):
    arguments = ("--tokenizer", "whitespace", "--cores", 8, "--memory-gb", 1)
    code, out, _ = run("--tokens", "1e12", "--sample", corpus, *arguments)
    assert code == 0
    assert "1 trillion" in out
    assert "The plan extrapolates the data by a factor of" in out
    assert "Limit: " in out
    assert " – " in out


@pytest.mark.long
def test_plan_without_text_counts_docstrings(run, monkeypatch):
    monkeypatch.setattr("cluster.demo.docstring_sample.SOURCE_BYTES", 3_000_000)
    code, out, _ = run("--tokens", "1e9", "--tokenizer", "whitespace")
    assert code == 0
    assert "docstrings of the installed Python packages" in out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "either the sources of a corpus or --tokens"),
        (("--tokens", "0"), "got 0"),
        (("--tokens", "-5"), "got -5"),
        (("--tokens", "nan"), "got nan"),
        (("nowhere.txt",), "Cannot use nowhere.txt"),
        (("a.txt", "--tokens", "5"), "either the sources of a corpus or --tokens"),
        (("a.txt", "--sample", "b.txt"), "`--sample` is an option of --tokens"),
        (("--tokens", "5", "--memory-gb", "0"), "`--memory-gb`"),
        (("--tokens", "5", "--build", "nowhere"), "nowhere"),
        (("--tokens", "5", "--window", "0"), "window"),
    ],
)
def test_invalid_arguments_print_one_sentence(run, arguments, expected):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1


def test_empty_sources_print_one_sentence(run, tmp_path):
    (tmp_path / "empty.txt").write_text("")
    code, out, err = run(tmp_path / "empty.txt")
    assert (code, out) == (2, "")
    assert "no text to read" in err


def test_text_without_neighbors_gives_one_sentence(run, tmp_path):
    (tmp_path / "tiny.txt").write_text("one\ntwo\nthree\n" * 4)
    code, _, err = run(tmp_path / "tiny.txt", "--min-count", 1)
    assert code == 2
    assert "too little text for an estimate" in err
