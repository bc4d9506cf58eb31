"""`bitcipher train`: what it refuses, each in one sentence, and what it leaves as it is."""

import gzip
import json
import sys
from pathlib import Path

import pytest
import tiny_commands
from tiny_runs import curve_of

import training
from cluster.cli.main import main


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run that has ended, and its corpus."""
    folder = tmp_path_factory.mktemp("train")
    tiny_commands.train(folder, folder / "run")
    return folder


@pytest.fixture
def train(made, monkeypatch, capsys):
    """Calls the command in the folder of the run, with the run's own settings and further ones."""
    monkeypatch.chdir(made)

    def call(*arguments, recipe="figure-4-cold", out="run", prepared="prepared"):
        settings = tiny_commands.arguments_of((*tiny_commands.SETTINGS, f"text.sources=[{made / 'corpus'}]"))
        line = ["train", recipe, "--out", out, *(["--prepared", prepared] if prepared else []), *settings, *arguments]
        monkeypatch.setattr(sys, "argv", ["bitcipher", *map(str, line)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code or 0, capsys.readouterr()

    return call


def refused(answer):
    """The sentence of a refusal."""
    code, printed = answer
    assert code == 2
    assert printed.out == ""
    assert printed.err.startswith("bitcipher: ")
    assert printed.err.count("\n") == 1
    return printed.err


def content_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_that_has_ended_stays_as_it_is(made, train):
    before = {name: data for name, data in content_of(made / "run").items() if "tensorboard" not in name}
    code, printed = train()
    assert code == 0
    assert printed.out == f"{made / 'run'} holds the run: metrics.jsonl, and the model in its newest checkpoint.\n"
    assert {name: data for name, data in content_of(made / "run").items() if "tensorboard" not in name} == before


@pytest.mark.parametrize(
    "setting", ["seed=2", "loop.steps=7", "text.tokenizer.size=81", "embeddings.start=cipher", "model.dropout=0.2"]
)
def test_a_run_of_another_recipe_is_refused(made, train, setting):
    before = content_of(made / "run")
    assert "run holds a run of other options: choose another folder, or remove it first." in refused(
        train("--set", setting)
    )
    assert content_of(made / "run") == before


def test_a_folder_that_is_no_run_is_refused(train, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("Dear")
    told = refused(train(out=tmp_path / "letters"))
    assert told.startswith(f"bitcipher: {tmp_path / 'letters'} is not empty, and has no run.json of such a run")
    assert [path.name for path in (tmp_path / "letters").iterdir()] == ["a.txt"]


def test_an_empty_folder_is_a_new_run(made, train, tmp_path):
    code, _ = train(out=tmp_path)
    assert code == 0
    assert curve_of(tmp_path) == curve_of(made / "run")


@pytest.mark.parametrize("place", [{"out": "s3://bucket/run"}, {"prepared": "memory://prepared"}])
def test_a_place_that_is_no_folder_is_refused(train, place):
    (name,) = place.values()
    assert f"a folder on a file system that all workers see, and {name} is none" in refused(train(**place))


def test_wrong_names_of_recipes_list_those_that_exist(train, tmp_path):
    told = refused(train(recipe="figure-7", out=tmp_path / "new"))
    assert "There is no recipe 'figure-7'" in told
    for path in (Path(training.__file__).parent / "recipes").glob("*.yaml"):
        assert path.stem in told
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("loop.stepps=3", "has an option loop.stepps that does not exist; there are "),
        ("objective.name=masked", "MaskedLM trains bert or roberta, not gpt2"),
        ("loop.steps", "A setting is NAME=VALUE"),
    ],
)
def test_a_recipe_that_cannot_be_leaves_no_folder(train, tmp_path, setting, sentence):
    told = refused(train("--set", setting, out=tmp_path / "new", prepared=tmp_path / "prepared"))
    assert sentence in told
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "prepared").exists()


def test_a_batch_that_workers_cannot_share_is_refused_before_anything_is_made(train, tmp_path):
    told = refused(train("--set", "loop.micro_batch=4", "--workers", 2, out=tmp_path / "new"))
    assert "2 workers cannot share a batch of 4 in micro-batches of 4" in told
    assert not (tmp_path / "new").exists()


def test_a_missing_source_is_refused(train, tmp_path):
    told = refused(train("--set", "text.sources=[nowhere]", out=tmp_path / "new", prepared=tmp_path / "prepared"))
    assert "Cannot use nowhere: there is no such file or folder" in told
    assert not (tmp_path / "prepared").exists()


def test_runs_share_their_text_which_lies_beside_them(train, tmp_path):
    for name in ("one", "two"):
        code, _ = train("--set", "loop.steps=1", out=tmp_path / name, prepared=None)
        assert code == 0
    texts = [json.loads((tmp_path / name / "run.json").read_text())["text"] for name in ("one", "two")]
    assert texts[0] == texts[1]
    assert [str(path) for path in (tmp_path / "prepared").iterdir()] == [texts[0]]


def test_babylm_is_read_by_its_recipe_whatever_its_files_end_with(made, train, tmp_path):
    text = [json.loads(line)["text"] for line in gzip.open(made / "corpus" / "part-0.json.gz", "rt")]
    (tmp_path / "10M").mkdir()
    (tmp_path / "10M" / "switchboard.train").write_text("\n".join(text))
    folder = tmp_path / "run"
    code, _ = train("--set", f"text.sources=[{tmp_path / '10M'}]", recipe="babylm-10m", out=folder, prepared=None)
    assert code == 0
    assert json.loads((folder / "start.json").read_text())["known"] > 40
    assert curve_of(folder)[-1]["step"] == 6
