"""Fine-tuned models as transformers opens them: texts give the logits and the predictions of the run."""

import json

import numpy as np
import pytest
import tiny_tasks
import torch
from finetune_runs import finetuned
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    pipeline,
)

from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.loop.checkpoint_folders import latest_checkpoint
from training.tasks.finetuning.finetuning_run import make_encoder

pytestmark = pytest.mark.usefixtures("one_thread")

LOOP = {"max_steps": 4, "eval_steps": 4, "save_steps": 4}
MAX_LENGTH = 24
TEXTS = ["peter sees many dogs", "london runs"]
TOLERANCE = 1e-5


@torch.enable_grad()
def opened(tmp_path, task, auto_class, architecture):
    model = tiny_tasks.write_model(tmp_path / "model", architecture)
    data = tiny_tasks.write_task(tmp_path / task, task, 40)
    run = finetuned(tmp_path / "run", model, task, data, loop=LOOP, num_train_epochs=None, max_seq_length=MAX_LENGTH)
    checkpoint = latest_checkpoint(run)
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    model = auto_class.from_pretrained(checkpoint, dtype=torch.float32).eval()
    encoder = make_encoder(model.config, load_tokenizer(str(run / "tokenizer.json")), MAX_LENGTH)
    return run, checkpoint, tokenizer, model, encoder


def rows(encoder, first, second=None):
    """Return the row that the run reads for a text or a pair, without padding."""
    pieces = encoder.pieces([first, second] if second else [first])
    inputs = encoder.rows([(pieces[0].ids, pieces[1].ids if second else None)])
    length = int(inputs["attention_mask"].sum())
    return {name: torch.tensor(values[:, :length].astype(np.int64)) for name, values in inputs.items()}


def assert_same(tokens, expected):
    assert set(tokens) == set(expected)
    for name, values in expected.items():
        assert tokens[name].tolist() == values.tolist(), name


@torch.no_grad()
@pytest.mark.parametrize("architecture", ["bert", "roberta", "modernbert"])
def test_classes_of_texts(tmp_path, architecture):
    run, checkpoint, tokenizer, model, encoder = opened(
        tmp_path, "cola", AutoModelForSequenceClassification, architecture
    )
    for text in TEXTS:
        tokens = tokenizer(text, return_tensors="pt")
        assert_same(tokens, rows(encoder, text))
    classify = pipeline("text-classification", model=str(checkpoint))
    predictions = json.loads((run / "predictions.json").read_text())["predictions"]
    for each in predictions[:10]:
        (found,) = classify(each["first"])
        assert found["label"] == each["predicted"]
    padded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    alone = model(**tokenizer(TEXTS[1], return_tensors="pt")).logits[0]
    np.testing.assert_allclose(model(**padded).logits[1], alone, atol=TOLERANCE)


@torch.no_grad()
@pytest.mark.parametrize("architecture", ["bert", "roberta"])
def test_pairs_of_texts(tmp_path, architecture):
    _, _, tokenizer, _, encoder = opened(tmp_path, "stsb", AutoModelForSequenceClassification, architecture)
    assert_same(tokenizer(*TEXTS, return_tensors="pt"), rows(encoder, *TEXTS))


@torch.no_grad()
def test_entities(tmp_path):
    _, checkpoint, tokenizer, model, encoder = opened(tmp_path, "entities", AutoModelForTokenClassification, "roberta")
    assert_same(tokenizer(TEXTS[0], return_tensors="pt"), rows(encoder, TEXTS[0]))
    expected = model(**rows(encoder, TEXTS[0])).logits[0].argmax(-1)[1:-1].tolist()
    found = pipeline("token-classification", model=str(checkpoint), ignore_labels=[])(TEXTS[0])
    assert [each["entity"] for each in found] == [model.config.id2label[number] for number in expected]


@torch.no_grad()
def test_questions(tmp_path):
    _, _, tokenizer, model, encoder = opened(tmp_path, "squad", AutoModelForQuestionAnswering, "bert")
    tokens = tokenizer("who is here", TEXTS[0], return_tensors="pt")
    assert_same(tokens, rows(encoder, "who is here", TEXTS[0]))
    assert model(**tokens).start_logits.shape == tokens["input_ids"].shape


def test_metrics_count_the_tokens_of_texts_without_padding(tmp_path):
    run, _, tokenizer, _, _ = opened(tmp_path, "cola", AutoModelForSequenceClassification, "roberta")
    lines = (tmp_path / "cola" / "train.tsv").read_text().splitlines()
    epoch = sum(len(tokenizer(line.split("\t")[3])["input_ids"]) for line in lines)
    tokens = {each["step"]: each["tokens"] for each in map(json.loads, (run / "metrics.jsonl").open())}
    # Four steps of 16 rows read each of the 40 rows once or twice.
    assert epoch < tokens[4] < 2 * epoch
    assert tokens[4] < 4 * 16 * MAX_LENGTH / 2
