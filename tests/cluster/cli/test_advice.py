"""Error messages of commands give advice that a user of the command line can follow."""

import socket

import numpy as np
import pytest
import typer
import user_folder

from bitcipher.files import object_store
from bitcipher.installation import install_command
from bitcipher.vectors.cipher_vectors import CipherVectors
from cluster.cli.interrupts import resumable
from cluster.cli.main import all_commands


@pytest.fixture
def refused(run_command):
    """Run a command that fails; return its only line."""

    def call(*arguments):
        code, out, err = run_command(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        return err

    return call


@pytest.fixture
def vectors(tmp_path):
    """A folder of vectors, and the same vectors as a text file."""
    table = CipherVectors(["cat", "dog"], np.eye(2, dtype=np.float32))
    table.save(tmp_path / "vectors")
    table.export("word2vec", tmp_path / "vectors.vec")
    return tmp_path / "vectors"


def test_unknown_words_are_reported_without_arguments_of_python(refused, vectors):
    assert refused("neighbors", vectors, "cats").endswith(
        "'cats' is not in the vocabulary of 2 words (close spellings: 'cat').\n"
    )


@pytest.mark.parametrize(
    "command", [("status",), ("embed", "--out", "new"), ("update", "text.txt"), ("neighbors", "cat", "--version", "1")]
)
def test_file_instead_of_a_folder_is_named_as_such(refused, vectors, command):
    name, *rest = command
    error = refused(name, f"{vectors}.vec", *rest)
    assert f"{vectors}.vec is a file, not the folder of a build. Vectors of other tools are read by" in error


def test_neighbors_reads_files_of_other_tools(run_command, vectors):
    assert run_command("neighbors", f"{vectors}.vec", "cat") == run_command("neighbors", vectors, "cat")


@pytest.mark.parametrize("command", [("neighbors", "cat"), ("inspect",), ("explore", "--out", "page.html")])
def test_missing_vectors_are_not_reported_as_a_missing_manifest(refused, tmp_path, command):
    name, *rest = command
    assert "There is no build and no folder of vectors" in refused(name, tmp_path / "missing", *rest)


def test_missing_build_is_named(refused, tmp_path):
    assert "There is no build" in refused("update", tmp_path / "missing", "text.txt")


def test_unknown_ending_names_the_option_of_the_format(refused, tmp_path):
    (tmp_path / "text.foo").write_text("the cat\n")
    assert "give the format (`--format`)" in refused("build", tmp_path / "text.foo", "--out", tmp_path / "new")


def test_refused_connection_gives_no_advice_about_credentials(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("bitcipher.files.http_files.FIRST_WAIT_SECONDS", 0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = refused("build", f"http://127.0.0.1:{port}/text.txt", "--out", tmp_path / "new")
    assert "No server listens at this address: check its host and port" in error
    assert "credentials" not in error


@pytest.mark.parametrize(("uri", "package"), [("gs://a/b", "gcsfs"), ("az://a/b", "adlfs")])
def test_missing_library_of_a_store_names_the_command_that_installs_it(refused, tmp_path, uri, package):
    # The test environment has neither of them.
    assert f"run `pip install {package}`" in refused("build", uri, "--out", tmp_path / "new")
    assert f"run `{install_command('s3')}`" in str(object_store.installation("s3://a/b"))


def test_one_of_a_kind_is_singular(run_command, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat and the dog and the cat\n")
    code, out, _ = run_command("build", text, "--out", tmp_path / "new", "--min-count", 1, "--mode", "cat")
    assert code == 0
    assert "\n1 document, 8 tokens, 5 words, " in out


def test_one_word_is_singular_in_all_summaries(run_command, tmp_path):
    CipherVectors(["cat"], np.ones((1, 1), np.float32)).save(tmp_path / "one")
    assert "1 word, 1 dimension\n" in run_command("inspect", tmp_path / "one").out
    out = run_command("export", tmp_path / "one", "--format", "glove", "--out", tmp_path / "one.txt").out
    assert out.startswith("1 word, 1 dimension → ")


def test_interrupted_command_promises_only_finished_work(capsys):
    with pytest.raises(typer.Exit) as stopped, resumable():
        raise KeyboardInterrupt
    assert stopped.value.exit_code == 130
    assert "resume after the counted shards that are finished, if there are any" in capsys.readouterr().err


def test_first_training_step_with_one_document_says_why_nothing_is_held_out(refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    user_folder.write_first_recipe(tmp_path)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "text.txt").write_text("the king saw a house in london and the queen went to oslo " * 40)
    error = refused("train", "first.yaml", "--out", "run")
    assert "The validation split is empty, because a share of whole documents is held out" in error
    assert "`text.validation_sources`" in error


def test_empty_oov_is_not_reported_as_a_word_without_context(run_command, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat and the dog and the cat\nalone\n")
    code, out, _ = run_command("build", text, "--out", tmp_path / "new", "--min-count", 1, "--mode", "cat")
    assert code == 0
    assert "1 word has no context" in out  # alone
    out = run_command("embed", tmp_path / "new", "--mode", "sum", "--out", tmp_path / "sum").out
    assert "1 word has no context" in out
    text.write_text("the cat and the dog and the cat\n")
    out = run_command("build", text, "--out", tmp_path / "other", "--min-count", 1, "--mode", "cat").out
    assert "context" not in out


def test_arguments_of_a_command_have_different_names():
    for name, command in all_commands().items():
        arguments = [each.metavar or each.name for each in command.params if each.param_type_name == "argument"]
        assert len(set(arguments)) == len(arguments), name


def test_progress_of_one_document_is_singular(run_command, tmp_path, monkeypatch):
    monkeypatch.setattr("pipelines.runtime.progress.LINE_SECONDS", 0)
    text = tmp_path / "text.txt"
    text.write_text("the cat and the dog and the cat\n")
    err = run_command("build", text, "--out", tmp_path / "new", "--min-count", 1, "--mode", "cat").err
    assert "1 document, " in err
