"""`bitcipher study arabic arcd` with tiny models of the recipes for Arabic."""

import json

import pytest
import tiny_commands
from typer.testing import CliRunner

from bitcipher.errors import BitcipherError
from cluster.cli.main import app
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.loop.metrics_logger import read_metrics

SUBJECTS, PLACES = ("القط", "الولد", "محمد", "المعلم"), ("المدرسة", "القاهرة", "البيت الكبير", "السوق")
SETTINGS = (
    *("text.tokenizer.vocab_size=90", "model.num_hidden_layers=1", "model.hidden_size=16"),
    *("model.num_attention_heads=2", "model.intermediate_size=16", "model.max_position_embeddings=48"),
    *("loop.max_steps=4", "loop.batch_size=2", "loop.eval_steps=4", "loop.eval_sequences=8", "loop.save_steps=4"),
    *("loop.device=cpu", "loop.precision=float32", "text.validation_fraction=0.1"),
)
FINETUNING = ("num_train_epochs=null", "loop.max_steps=3", "loop.batch_size=4", "loop.device=cpu")


def sentence(number):
    return f"ذهب {SUBJECTS[number % 4]} إلى {PLACES[number // 4 % 4]}، ووجد كتابها القديم هناك."


def write_arcd(folder):
    folder.mkdir()
    for name, size in (("arcd-train", 12), ("arcd-test", 8)):
        paragraphs = []
        for number in range(size):
            context, place = f"{sentence(number)} {sentence(number + 5)}", PLACES[number // 4 % 4]
            answer = {"text": place, "answer_start": context.index(place)}
            asked = {"id": str(number), "question": f"أين {SUBJECTS[number % 4]}؟", "answers": [answer]}
            paragraphs.append({"context": context, "qas": [asked]})
        (folder / f"{name}.json").write_text(json.dumps({"data": [{"title": "", "paragraphs": paragraphs}]}))
    return folder


def write_questions(folder, arcd):
    folder.mkdir()
    for name, source in (("train-v1.1.json", "arcd-train.json"), ("dev-v1.1.json", "arcd-test.json")):
        (folder / name).write_bytes((arcd / source).read_bytes())
    return folder


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("wrong", "sentence_part"), [(("--set-finetuning", "loop.learning_rat=1"), "learning_rat"), ((), "arcd-train")]
)
def test_mistakes_are_found_before_training(tmp_path, wrong, sentence_part):
    (tmp_path / "arabic.txt").write_text("\n".join(sentence(number) for number in range(40)), "utf-8")
    data = write_arcd(tmp_path / "arcd") if wrong else tmp_path
    line = ["study", "arabic", "arcd", tmp_path / "arabic.txt", "--other", tmp_path / "arabic.txt", "--data", data]
    result = CliRunner().invoke(app, [*map(str, line), "--out", str(tmp_path / "out"), *wrong])
    assert isinstance(result.exception, BitcipherError)
    assert sentence_part in str(result.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_all_models_are_trained_and_fine_tuned(tmp_path):
    (tmp_path / "arabic.txt").write_text("\n".join(sentence(number) for number in range(400)), "utf-8")
    corpus, data = tiny_commands.write_corpus(tmp_path / "corpus"), write_arcd(tmp_path / "arcd")
    questions = write_questions(tmp_path / "questions", data)
    line = [
        *("study", "arabic", "arcd"),
        tmp_path / "arabic.txt",
        "--other",
        corpus,
        "--data",
        data,
        "--out",
        tmp_path / "out",
    ]
    line += ["--questions", questions]
    line += ["--seeds", 1, *tiny_commands.arguments_of(SETTINGS)]
    line += [argument for setting in FINETUNING for argument in ("--set-finetuning", setting)]
    tables = []
    for _ in range(2):  # the second call trains nothing
        result = CliRunner().invoke(app, list(map(str, line)))
        assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
        tables.append(result.stdout)  # progress is on stderr
    assert tables[0] == tables[1] == (tmp_path / "out" / "scores.md").read_text()
    rows = {
        row.split("|")[1].strip(): [cell.strip() for cell in row.split("|")[2:-1]]
        for row in tables[0].split("\n")[2:-1]
    }
    models = ["multilingual", "unsegmented", "unsegmented, random weights", "segmented", "segmented, random weights"]
    assert [*rows][:7] == [*models, "unsegmented, cipher", "segmented, cipher"]
    assert rows["segmented"][4] == "30.6 / 62.7 / 92.0"
    assert rows["baseline: the first sentence"][3] == "100.0"
    assert {"baseline: a random span", "baseline: the most frequent answer", "baseline: no answer"} <= rows.keys()

    text = "ذهب محمد إلى المدرسة"
    segmented, words = (
        load_tokenizer(str(tmp_path / "out" / name / "tokenizer.json")).encode(text).tokens
        for name in ("arcd-segmented-1", "arcd-unsegmented-1")
    )
    assert {"▁ال＋", "▁＋ة"} <= set(segmented)
    assert "＋" not in "".join(words)
    predictions = json.loads((tmp_path / "out" / "arcd-segmented-1" / "predictions.json").read_text())["predictions"]
    contexts = {str(number): f"{sentence(number)} {sentence(number + 5)}" for number in range(8)}
    for each in predictions:
        best = each["candidates"][0]
        assert contexts[each["id"]][best["start"] : best["end"]] == each["answer"]
    assert json.loads((tmp_path / "out" / "segmented-cipher-1" / "embedding_init.json").read_text())["n_random"] < 30
    assert not (tmp_path / "out" / "segmented-1" / "embedding_init.json").exists()
    for name in ("segmented-1", "segmented-random-weights-1"):
        task = json.loads((tmp_path / "out" / f"arcd-{name}" / "task.json").read_text())
        assert task["new_weights"] == []  # the head of the first questions is kept
    assert read_metrics(tmp_path / "out" / "multilingual-1")[-1]["step"] == 4
