"""The command line as a process: exit codes, output and errors."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from builds import FRESH

from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.versions import versions
from pipelines.store.manifest import read_manifest


def bitcipher(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cluster.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, check=False)


@pytest.fixture(scope="module")
def built(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("command") / "built"
    result = bitcipher("build", corpus, "--out", target, "--min-count", 3)
    assert result.returncode == 0, result.stderr
    assert "━" not in result.stderr  # no progress bars without a terminal
    assert "tokens/s" in result.stdout
    return target


@pytest.fixture
def refused(run_command) -> Callable[..., str]:
    """Return a function that runs a failing command in process, asserts exit code 2, and returns stderr."""

    def run(*arguments: object) -> str:
        code, out, err = run_command(*arguments)
        assert (code, out) == (2, "")
        return err

    return run


def test_neighbors_and_inspect_print_a_build(built, run_command):
    nearest = run_command("neighbors", built, "the", "قلب", "--topn", 3)
    assert nearest.code == 0, nearest.err
    assert len(nearest.out.split()) == 2 * (2 + 3 * 2)
    inside = run_command("inspect", built).out
    assert "min_count: 3" in inside
    assert "versions/000001.json" in inside


@pytest.mark.long
def test_embed_makes_other_vectors_from_stored_counts(built, tmp_path, run_command):
    result = run_command("embed", built, "--mode", "sum", "--bits", 40, "--out", tmp_path / "sum")
    assert result.code == 0, result.err
    vectors = CipherVectors.load(tmp_path / "sum")
    assert vectors.vector_size == 40
    assert vectors.manifest["embedding"]["noise"] == "document_share"
    assert run_command("inspect", tmp_path / "sum").code == 0
    context_windows = ("--mode", "spectral", "--context", "window", "--vector-size", 30, "--memory-mib", 600)
    result = run_command("embed", built, *context_windows, "--out", tmp_path / "window")
    assert result.code == 0, result.err
    vectors = CipherVectors.load(tmp_path / "window")
    assert vectors.vector_size == 30
    assert vectors.manifest["embedding"]["context"] == "window"
    assert {path.name for path in tmp_path.iterdir()} == {"sum", "window"}


def test_command_line_overrides_the_recipe(corpus, tmp_path, run_command):
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(f"sources: [{corpus}/c.txt]\ntokenizer: whitespace\nmin_count: 2\nvector_size: 20\n")
    result = run_command("build", "--recipe", recipe, "--vector-size", 30, "--out", tmp_path / "built")
    assert result.code == 0, result.err
    options = read_manifest(str(tmp_path / "built")).to_dict()["options"]
    assert (options["tokenizer"], options["min_count"], options["vector_size"]) == ("whitespace", 2, 30)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["{nowhere}"], "no such file"),
        (["{corpus}", "--mode", "dog"], "`--mode` must be spectral, cat, sum or cipher"),
        (["{corpus}", "--mode", "sum", "--noise", "white"], "got 'white'"),
        (["{corpus}", "--mode", "sum", "--bits", "0"], "`--bits` must be between 1 and 65536, got 0"),
        (["{corpus}", "--window", "129"], "between 1 and 128, got 129"),
        (["{corpus}", "--summed", "--mode", "cat"], "use mode spectral or sum"),
        (["{corpus}", "--summed", "--context", "positions"], "use context window"),
        (["{corpus}", "--vector-size", "0"], "`--vector-size` must be between 1 and 65536"),
        (["{corpus}", "--context", "left"], "got 'left'"),
        (["{corpus}", "--tokenizer", "magic"], "`tokenizer` must be spacy"),
        (["{corpus}", "--tokenizer", "{nowhere}.json"], "There is no file"),
        (["{corpus}", "--field", "body"], "has no field 'body'"),
        (["{corpus}", "--min-count", "2", "--word-list", "{corpus}/c.txt"], "`word_list` fixes the vocabulary"),
        (["{empty}"], "All sources are empty"),
        (["{blank}"], "The sources have no documents"),
        (["{broken}"], "broken.jsonl"),
        (["--recipe", "{recipe}"], "there is no option `bitz`"),
        (["--recipe", "paper-dog"], "There is no recipe 'paper-dog'; choose from paper-cat"),
        ([], "No sources are given"),
    ],
)
def test_mistakes_print_one_sentence_and_leave_no_files(refused, corpus, tmp_path, arguments, expected):
    files = {
        "empty": ("empty.txt", ""),
        "blank": ("blank.txt", "\n \n"),
        "broken": ("broken.jsonl", '{"text": "a"}\n{"te'),
        "recipe": ("r.yaml", "bitz: 3\n"),
    }
    paths = {"corpus": str(corpus), "nowhere": str(tmp_path / "nowhere")}
    for key, (name, content) in files.items():
        (tmp_path / name).write_text(content)
        paths[key] = str(tmp_path / name)
    before = sorted(tmp_path.iterdir())
    message = refused("build", *[argument.format(**paths) for argument in arguments], "--out", tmp_path / "out")
    assert expected in message
    assert message.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [(["--mode", "cat", "--bits", "4"], "use at least"), (["--min-count", "100000000"], "Lower `min_count`")],
)
def test_mistake_found_after_counting_needs_no_second_count(
    refused, run_command, corpus, tmp_path, arguments, expected
):
    target = tmp_path / "out"
    assert expected in refused("build", corpus, "--tokenizer", "whitespace", *arguments, "--out", target)
    assert versions(str(target)) == []
    assert "run the same command again" in run_command("status", target).out
    assert run_command("build", corpus, "--tokenizer", "whitespace", "--out", target).code == 0
    assert "count" not in run_command("inspect", target).out.split("stage")[1].split("words")[0]


def test_existing_or_unwritable_target_is_refused(refused, corpus, built, tmp_path):
    assert "already" in refused("build", corpus, "--out", built)
    (tmp_path / "file").write_text("")
    assert "Not a directory" in refused("build", corpus, "--out", tmp_path / "file" / "out")
    assert "already" in refused("embed", built, "--out", built)


def test_invalid_queries_print_one_sentence(refused, run_command, built, tmp_path):
    assert "is not in the vocabulary" in refused("neighbors", built, "nosuchword")
    assert run_command("neighbors", built, "nosuchword", "--oov", "token").code == 0
    assert "a folder in none of the readable formats" in refused("neighbors", tmp_path, "the")
    assert "is not a build" in refused("embed", tmp_path, "--out", tmp_path / "x")
    message = refused("embed", built, "--window", 7, "--out", tmp_path / "x")
    assert "window of 7" in message
    assert "--out" in refused("build", tmp_path)
    assert not (tmp_path / "x").exists()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_interrupted_build_resumes(documents, tmp_path, run_command, number):
    # Distinct words keep spaCy busy long enough for the signal to interrupt it.
    words = " ".join(documents).split()[:100_000]
    text = "\n".join(f"{word}{i}," for i, word in enumerate(words))
    (tmp_path / "long.txt").write_text(text)
    command = ["build", tmp_path / "long.txt", "--out", tmp_path / "out", "--shard-mib", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "cluster.cli.main", *map(str, command)], stderr=subprocess.PIPE, text=True
    )
    while not list(tmp_path.glob("out/ledger/jobs/*/shard/*/*.json")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, expected = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "run the same command again" in expected
    assert versions(str(tmp_path / "out")) == []
    assert "running as process" not in run_command("status", tmp_path / "out").out
    assert run_command(*command).code == 0
    assert run_command("build", tmp_path / "long.txt", "--out", tmp_path / "whole").code == 0
    assert (
        read_manifest(str(tmp_path / "out")).to_dict()["digests"]
        == read_manifest(str(tmp_path / "whole")).to_dict()["digests"]
    )


def test_mistake_of_a_process_prints_one_sentence_to_stderr(tmp_path):
    result = bitcipher("build", tmp_path / "nowhere", "--out", tmp_path / "out")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("bitcipher: Cannot use ")
    assert result.stderr.count("\n") == 1


@pytest.mark.long
def test_words_and_paths_with_brackets_are_printed_literally(tmp_path, run_command):
    (tmp_path / "brackets.txt").write_text("[red] [/x] a b\n" * 20 + "[/x] b [red] c a\n" * 20)
    target = tmp_path / "[bold]"
    assert run_command("build", tmp_path / "brackets.txt", "--tokenizer", "whitespace", "--out", target).code == 0
    code, shown, errors = run_command("neighbors", target, "[/x]", "[red]")
    assert code == 0, errors
    assert shown.startswith("[/x]")
    assert "\n[red]" in shown
    assert "[bold]" in run_command("inspect", target).out


@pytest.mark.long
def test_help_has_an_example_for_every_command(run_command):
    teaching = ("build", "update", "status", "prune", "embed", "neighbors", "submit", "doctor")
    page = bitcipher("--help").stdout
    assert all(name in page for name in (*teaching, "inspect", "demo"))
    for name in teaching:
        assert "For example: bitcipher" in run_command(name, "--help").out


@pytest.mark.long
def test_update_prints_changes_of_the_sources(built, corpus, tmp_path, run_command):
    again = run_command("update", built, corpus)
    assert again.code == 0, again.err
    assert "0 new files, 4 unchanged" in again.out
    assert again.out.endswith("Nothing is new: version 1 is up to date.\n")
    (tmp_path / "more.txt").write_text("the casa of the unheard word\n" * 90)
    held = run_command("update", built, corpus, tmp_path / "more.txt", *FRESH, "--max-drift", 0, "--quiet")
    assert (held.code, held.err.count("\n")) == (3, 1)
    assert "Unfinished job for version 2, started" in run_command("status", built).out
    dropped = run_command("prune", built, "--unfinished")
    assert dropped.out == "Removed 1 shard of an interrupted job.\n"
    assert "none was interrupted" in run_command("status", built).out
