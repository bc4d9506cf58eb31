"""`classifier_pooling`: the states that ModernBERT's head for sentences reads."""

import numpy as np
import pytest
import torch
from finetune_runs import finetuned
from tiny_tasks import write_model, write_task

from bitcipher.errors import BitcipherError
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.loop.checkpoint_folders import latest_checkpoint
from training.models.checkpoint import load_model
from training.tasks.finetuning.examples import select_rows
from training.tasks.finetuning.finetuning_run import make_encoder
from training.tasks.finetuning.head_states import head_states
from training.tasks.finetuning.task_files import read_task

pytestmark = pytest.mark.usefixtures("one_thread")

SHORT = {"num_train_epochs": None, "loop": {"max_steps": 2, "eval_steps": 2}}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    for architecture in ("modernbert", "roberta"):
        write_model(folder / architecture, architecture, num_hidden_layers=2)
    for task in ("cola", "stsb", "squad"):
        write_task(folder / task, task, 32)
    return folder


def run_in(folder, made, task, model="modernbert", **changes):
    return finetuned(folder, made / model, task, made / task, **(SHORT | changes))


@pytest.mark.parametrize("task", ["cola", "stsb"])
def test_head_reads_the_mean_of_all_states_but_padding(made, tmp_path, task):
    model = load_model(str(latest_checkpoint(run_in(tmp_path, made, task, classifier_pooling="mean")))).eval()
    encoder = make_encoder(model.config, load_tokenizer(str(made / "modernbert" / "tokenizer.json")), None)
    features = read_task(task, str(made / task)).features("train", encoder)
    batch = {name: torch.from_numpy(rows) for name, rows in select_rows(features, np.arange(8)).items()}
    batch["attention_mask"][0, 3:] = 0
    with torch.no_grad():
        states, logits = head_states(model, batch)
        assert torch.allclose(model.classifier(model.head(states[-1])), logits, atol=1e-6)
        row = model.model(input_ids=batch["input_ids"][:1], attention_mask=batch["attention_mask"][:1])
    assert torch.allclose(states[-1, 0], row.last_hidden_state[0, :3].mean(0), atol=1e-6)


def test_run_keeps_the_pooling_of_its_model(made, tmp_path):
    first = run_in(tmp_path / "first", made, "cola", classifier_pooling="mean")
    second = finetuned(tmp_path / "second", first, "stsb", made / "stsb", **SHORT)
    third = finetuned(tmp_path / "third", first, "stsb", made / "stsb", **SHORT, classifier_pooling="cls")
    poolings = [load_model(str(latest_checkpoint(run))).config.classifier_pooling for run in (first, second, third)]
    assert poolings == ["mean", "mean", "cls"]


@pytest.mark.parametrize(("model", "task"), [("roberta", "cola"), ("modernbert", "squad")])
def test_other_models_and_tasks_raise(made, tmp_path, model, task):
    with pytest.raises(BitcipherError, match="`classifier_pooling` needs a ModernBERT and a task of sentences, got"):
        run_in(tmp_path, made, task, model, classifier_pooling="mean")


def test_unknown_pooling_raises(made, tmp_path):
    with pytest.raises(BitcipherError, match="`classifier_pooling` must be cls or mean, got 'max'"):
        run_in(tmp_path, made, "cola", classifier_pooling="max")
