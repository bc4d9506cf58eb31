"""Runs in a store: the same bytes as on a disk, also after interruptions and damage; and readers of such runs."""

from pathlib import Path

import pytest
import tiny_commands
from tiny_runs import curve_of
from tiny_tasks import write_task

from bitcipher.files import storage
from bitcipher.files.file_digests import digest_file
from bitcipher.files.node_cache import cache_folder
from training.loop import run_store
from training.loop.checkpoint_folders import checkpoint_names, resolve_model_folder
from training.loop.run_store import copying_run
from training.loop.stop_request import RUN_LEASE
from training.runs.launch.run_dir import leasing_run_dir

SETTINGS = (*tiny_commands.SETTINGS, "loop.save_total_limit=2", "loop.save_steps=2")
NAMES = ("model.safetensors", "optimizer.safetensors")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Folder with a corpus, and a finished run on the disk."""
    folder = tmp_path_factory.mktemp("train")
    tiny_commands.train(folder, folder / "run", *SETTINGS[-2:])
    return folder


@pytest.fixture
def store(tmp_path, monkeypatch):
    """URI of an empty folder of a store, whose copies go to a folder of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    uri = f"memory://{tmp_path}"
    yield uri
    storage.remove(uri)


@pytest.fixture
def train(made, store, run_command):
    """Function that trains the run in the store."""

    def call(*arguments):
        settings = tiny_commands.arguments_of((*SETTINGS, f"text.sources=[{made / 'corpus'}]"))
        return run_command("train", "figure-4-random", "--out", f"{store}/run", *settings, *arguments)

    return call


def check_equal(uri, folder):
    """Check that a run in a store has the metrics, checkpoints and weights of one on the disk."""
    with copying_run(uri) as copy:
        assert curve_of(copy) == curve_of(folder)
    assert checkpoint_names(uri) == checkpoint_names(str(folder)) == ["00000004", "00000006"]
    for name in (f"checkpoints/{step}/{name}" for step in checkpoint_names(uri) for name in NAMES):
        assert digest_file(f"{uri}/{name}") == digest_file(str(folder / name)), name


def interrupt_at(monkeypatch, number):
    """Interrupt the command at the given upload of a file."""
    copied = []

    def copy(source, target):
        if target.startswith("memory://"):
            copied.append(target)
            if len(copied) == number:
                raise KeyboardInterrupt
        original(source, target)

    original = run_store.copy_file
    monkeypatch.setattr(run_store, "copy_file", copy)
    return copied


def test_run_equals_one_on_disk(made, store, train):
    code, out, err = train()
    assert code == 0, err
    assert out == f"The run is in {store}/run: metrics.jsonl, and the model in checkpoints/00000006.\n"
    check_equal(f"{store}/run", made / "run")
    names = set(storage.list_files(f"{store}/run"))
    assert names >= {"run.json", "recipe.yaml", "tokenizer.json", "files.json", "metrics.jsonl"}
    assert any(name.startswith("tensorboard/") for name in names)
    assert list((cache_folder() / "runs").iterdir()) == []  # working copies are removed
    before = {name: digest_file(f"{store}/run/{name}") for name in names if not name.startswith(RUN_LEASE)}
    assert train()[0] == 0  # a finished run is unchanged
    assert {name: digest_file(f"{store}/run/{name}") for name in before} == before


@pytest.mark.parametrize("number", [9, 16, 23])
def test_resume_is_exact_wherever_the_uploads_end(made, store, train, monkeypatch, number):
    with monkeypatch.context() as patch:
        uploaded = interrupt_at(patch, number)
        assert train()[0] == 130
    assert len(uploaded) == number
    assert train()[0] == 0
    check_equal(f"{store}/run", made / "run")


@pytest.mark.parametrize("name", ["checkpoints/00000006/model.safetensors", "metrics.jsonl"])
def test_damaged_checkpoint_falls_back(made, store, train, name):
    train()
    uri = f"{store}/run/{name}"
    content = storage.read_bytes(uri)
    storage.write_bytes(uri, content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    code, _, err = train()
    assert code == 0
    assert f"It was removed, and the run resumes from {store}/run/checkpoints/00000004." in err
    check_equal(f"{store}/run", made / "run")


def test_copy_has_no_files_outside_of_it(store, tmp_path):
    for name in ("run/run.json", "run/../../../../../escaped", "run/checkpoints/00000001/files.json"):
        storage.write_bytes(f"{store}/{name}", b"{}")
    with copying_run(f"{store}/run", with_checkpoints=True) as copy:
        names = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
        assert names == {"run.json", "checkpoints/00000001/files.json"}
    assert not list(tmp_path.rglob("escaped"))


def test_second_job_is_refused(store, train):
    with leasing_run_dir(f"{store}/run", "run.json"):
        code, _, err = train()
    assert code == 2
    assert f"Another job is running on {store}/run (on " in err


@pytest.mark.long
def test_readers_of_runs(made, store, train, run_command, tmp_path):
    train()
    code, _, err = run_command("compare", f"{store}/run", made / "run", "--out", tmp_path / "curves")
    assert code == 2  # it has the same recipe and seed as the other
    assert "run and run have the same recipe and seed" in err
    assert run_command("compare", f"{store}/run", "--out", tmp_path / "curves")[0] == 0
    texts = [run_command("generate", run, "--prompt", "the")[1] for run in (f"{store}/run", made / "run")]
    assert texts[0] == texts[1]
    assert resolve_model_folder(f"{store}/run") == f"{store}/run/checkpoints/00000006"
    code, _, err = run_command("generate", f"{store}/run", "--prompt", "the", "--checkpoint", "3")
    assert f"{store}/run has no checkpoint of step 3; its latest is step 6." in err
    assert Path(tmp_path, "curves", "table.md").exists()


def test_verify_names_damaged_files_of_the_store(store, train, run_command):
    train()
    code, out, err = run_command("verify", f"{store}/run")
    assert (code, err) == (0, "")
    (text,) = {name.split("/")[0] for name in storage.list_files(f"{store}/prepared")}
    for name in ("run/checkpoints/00000006/model.safetensors", f"prepared/{text}/train-00000-000000.tokens"):
        uri = f"{store}/{name}"
        content = storage.read_bytes(uri)
        storage.write_bytes(uri, content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        code, out, err = run_command("verify", f"{store}/run")
        assert code == 2
        assert f"{uri} is damaged" in out + err


@pytest.mark.long
def test_finetuning_in_a_store_is_that_on_disk(made, store, train, run_command, monkeypatch, tmp_path):
    train()
    data = write_task(tmp_path / "cola", "cola", 40)
    short = ("num_train_epochs=null", "loop.max_steps=6", "loop.eval_steps=3", "loop.save_steps=2", "loop.device=cpu")

    def finetune(model, out):
        line = ("finetune", model, "--task", "cola", "--data", data, "--out", out)
        return run_command(*line, *tiny_commands.arguments_of(short))

    expected = finetune(made / "run", tmp_path / "task")
    with monkeypatch.context() as patch:
        interrupt_at(patch, 14)
        assert finetune(f"{store}/run", f"{store}/task").code == 130
    answer = finetune(f"{store}/run", f"{store}/task")
    assert (answer.code, answer.out) == (0, expected.out.replace(str(tmp_path), store)), answer.err
    check_equal(f"{store}/task", tmp_path / "task")
    assert digest_file(f"{store}/task/predictions.json") == digest_file(str(tmp_path / "task" / "predictions.json"))
