"""Output and errors of commands on builds whose newest version has no vectors of its own."""

import pytest
from builds import write_lines

from bitcipher.versions import versions
from pipelines.store.manifest import read_manifest

OPTIONS = ("--tokenizer", "whitespace", "--min-count", 2, "--vector-size", 20, "--memory-mib", 600, "--workers", 0)


@pytest.fixture
def command(monkeypatch, documents, tmp_path, run_command):
    """Function that runs a command in a directory with the sources a, b and c; output is one line."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate("abc"):
        write_lines(tmp_path / f"{name}.jsonl", documents[number * 20 : number * 20 + 20])

    def command(*arguments):
        code, out, err = run_command(*arguments)
        assert err.count("\n") == (code != 0)
        return code, " ".join((out or err).split())

    return command


def succeed(result):
    code, printed = result
    assert code == 0, printed
    return printed


def test_counts_every_hour_and_vectors_every_night(command):
    succeed(command("build", "a.jsonl", "--out", "build", *OPTIONS))
    printed = succeed(command("update", "build", "b.jsonl", "--vectors", "later", "--workers", 0))
    assert "1 new file, 0 unchanged" in printed
    assert "words, counts only in" in printed
    assert printed.endswith(
        "→ build, version 2 Version 2 has counts only; its vectors are those of version 1. `bitcipher update build "
        "--vectors now` makes new ones."
    )
    printed = succeed(command("status", "build"))
    assert "version 1: 20 documents" in printed
    assert "words, counts only Version 2 has counts only; its vectors are those of version 1." in printed

    nearest = [succeed(command("neighbors", "build", "the", *version)) for version in ((), ("--version", 1))]
    assert nearest[0] == nearest[1]
    for arguments in (
        ("inspect", "build"),
        ("verify", "build"),
        ("explain", "build", "the", "of"),
        ("export", "build", "--format", "glove", "--out", "glove.txt"),
        ("export", "build", "--format", "counts", "--out", "counts"),
        ("embed", "build", "--vector-size", 5, "--out", "small"),
    ):
        succeed(command(*arguments))

    printed = succeed(command("update", "build", "--basis", "keep", "--workers", 0))
    assert printed.startswith("stage")  # without sources, no changes of sources are printed
    assert "Since version 1: " in printed
    assert "itself in version 1:" in printed
    assert read_manifest("build").vectors_from.version == 3
    printed = succeed(command("status", "build"))
    assert "of neighbors changed since version 1" in printed
    assert printed.count("counts only") == 1
    assert succeed(command("update", "build")) == "Nothing is new: version 3 is up to date."


def test_build_without_vectors_is_explained(command):
    printed = succeed(command("build", "a.jsonl", "--out", "build", "--vectors", "later", *OPTIONS))
    missing = (
        "Version 1 has counts only; there are no vectors yet. `bitcipher update build --vectors now` makes new ones."
    )
    assert printed.endswith(missing)
    assert missing in succeed(command("status", "build"))
    succeed(command("inspect", "build"))
    succeed(command("verify", "build"))
    for arguments in (
        ("neighbors", "build", "the"),
        ("explain", "build", "the"),
        ("export", "build", "--format", "glove", "--out", "glove.txt"),
        ("evaluate", "build", "--similarity", "a.jsonl"),
        ("explore", "build", "--out", "page.html"),
    ):
        code, error = command(*arguments)
        assert (code, "build, version 1, has counts but no vectors: make them with" in error) == (2, True), error
    succeed(command("update", "build", "--vectors", "now", "--workers", 0))
    succeed(command("neighbors", "build", "the"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("b.jsonl", "--vectors", "soon"), "`--vectors` must be now or later, got 'soon'"),
        (("b.jsonl", "--vectors", "later", "--max-drift", 0.2), "`max_drift` needs new vectors"),
        (("--vectors", "later"), "needs sources"),
        (("--replace",), "needs sources"),
    ],
)
def test_mistakes_print_one_sentence(command, arguments, expected):
    succeed(command("build", "a.jsonl", "--out", "build", *OPTIONS))
    code, error = command("update", "build", *arguments)
    assert (code, expected in error) == (2, True), error
    assert versions("build") == [1]
    code, error = command("build", "a.jsonl", "--out", "other", "--vectors", "soon")
    assert (code, "`--vectors` must be now or later, got 'soon'" in error) == (2, True), error
