"""`bitcipher train`: errors, and runs that stay unchanged."""

import gzip
import json
from pathlib import Path

import pytest
import tiny_commands
from tiny_runs import curve_of
from web_server import WebServer

import training
from training.loop.stop_request import RUN_LEASE


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with a finished run and its corpus."""
    folder = tmp_path_factory.mktemp("train")
    tiny_commands.train(folder, folder / "run")
    return folder


@pytest.fixture
def train(made, monkeypatch, run_command):
    """Return a function that runs the command with the settings of the finished run and further ones."""
    monkeypatch.chdir(made)

    def call(*arguments, recipe="figure-4-random", out="run", prepared="prepared"):
        settings = tiny_commands.arguments_of((*tiny_commands.SETTINGS, f"text.sources=[{made / 'corpus'}]"))
        line = ["train", recipe, "--out", out, *(["--prepared", prepared] if prepared else []), *settings, *arguments]
        return run_command(*line)

    return call


def error_of(answer):
    """Return the message of a failed command."""
    code, out, err = answer
    assert (code, out) == (2, "")
    assert err.startswith("bitcipher: ")
    assert err.count("\n") == 1
    return err


def content_of(folder):
    paths = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != RUN_LEASE]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_finished_run_is_unchanged(made, train):
    before = content_of(made / "run")
    code, out, _ = train()
    assert code == 0
    assert str(made / "run") in out
    assert content_of(made / "run") == before


@pytest.mark.parametrize(
    "setting",
    ["seed=2", "loop.max_steps=7", "text.tokenizer.vocab_size=81", "embeddings.init=cipher", "model.dropout=0.2"],
)
def test_run_of_other_recipe_raises(made, train, setting):
    before = content_of(made / "run")
    name, value = setting.split("=")
    error = error_of(train("--set", setting))
    assert f"run holds a run with other options ({name} " in error
    assert f" → {value}" in error.replace("'", "")
    assert content_of(made / "run") == before


def test_folder_of_other_files_raises(train, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("Dear")
    output = error_of(train(out=tmp_path / "letters"))
    assert f"{tmp_path / 'letters'} is not empty, and does not hold a run with run.json" in output
    assert [path.name for path in (tmp_path / "letters").iterdir()] == ["a.txt"]


def test_empty_folder_is_new_run(made, train, tmp_path):
    code, *_ = train(out=tmp_path)
    assert code == 0
    assert curve_of(tmp_path) == curve_of(made / "run")


def test_bucket_as_folder_of_the_run_raises(train):
    assert "s3://bucket has no folder next to it" in error_of(train(out="s3://bucket", prepared=None))


def test_unknown_recipe_raises(train, tmp_path):
    output = error_of(train(recipe="figure-7", out=tmp_path / "new"))
    assert "There is no recipe 'figure-7'" in output
    for path in Path(training.__file__).parent.glob("**/recipes/*.yaml"):
        assert path.stem in output or path.stem.startswith("downscaling")  # recipes of `sweep`
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("loop.stepps=3", "no option `loop.stepps`"),
        ("objective.name=masked", "MaskedLM trains bert or roberta"),
        ("loop.steps", "must be NAME=VALUE"),
    ],
)
def test_invalid_recipe_leaves_no_folder(train, tmp_path, setting, sentence):
    output = error_of(train("--set", setting, out=tmp_path / "new", prepared=tmp_path / "prepared"))
    assert sentence in output
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "prepared").exists()


def test_indivisible_batch_raises_before_preparation(train, tmp_path):
    output = error_of(train("--set", "loop.micro_batch_size=4", "--workers", 2, out=tmp_path / "new"))
    assert "2 workers cannot split a batch of 4" in output
    assert not (tmp_path / "new").exists()


def test_missing_source_raises(train, tmp_path):
    output = error_of(train("--set", "text.sources=[nowhere]", out=tmp_path / "new", prepared=tmp_path / "prepared"))
    assert "Cannot use nowhere" in output
    assert not (tmp_path / "prepared").exists()


def test_runs_share_prepared_text(train, tmp_path):
    for name in ("one", "two"):
        code, *_ = train("--set", "loop.max_steps=1", out=tmp_path / name, prepared=None)
        assert code == 0
    texts = [json.loads((tmp_path / name / "run.json").read_text())["text"] for name in ("one", "two")]
    assert texts[0] == texts[1]
    assert [str(path) for path in (tmp_path / "prepared").iterdir()] == [texts[0]]


def test_babylm_recipe_reads_train_files(made, train, tmp_path):
    text = [json.loads(line)["text"] for line in gzip.open(made / "corpus" / "part-0.json.gz", "rt")]
    (tmp_path / "10M").mkdir()
    (tmp_path / "10M" / "switchboard.train").write_text("\n".join(text))
    folder = tmp_path / "run"
    code, *_ = train("--set", f"text.sources=[{tmp_path / '10M'}]", recipe="babylm-10m", out=folder, prepared=None)
    assert code == 0
    assert json.loads((folder / "embedding_init.json").read_text())["n_from_vectors"] > 40
    assert curve_of(folder)[-1]["step"] == 6


def test_credentials_are_not_stored(made, train, tmp_path):
    """The text is read with them, and the same command resumes with others."""
    (corpus,) = (made / "corpus").iterdir()
    with WebServer() as web:
        web.files["/a.json.gz"] = corpus.read_bytes()
        for password in ("hunter2", "hunter3"):
            source = f"http://me:{password}@127.0.0.1:{web.port}/a.json.gz?token={password}"
            assert train("--set", f"text.sources=[{json.dumps(source)}]", out=tmp_path / "run")[0] == 0
    stored = content_of(tmp_path / "run")
    assert not any(b"hunter" in content for content in stored.values())
    assert f"127.0.0.1:{web.port}/a.json.gz".encode() in stored["run.json"]
    assert f"127.0.0.1:{web.port}/a.json.gz".encode() in stored["recipe.yaml"]
