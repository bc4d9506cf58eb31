import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_encoders import encoder

from bitcipher.errors import BitcipherError
from training.tasks.base import get_examples
from training.tasks.glue import read_glue
from training.tasks.sentences import SentenceExample, SentenceTask, _fit

MRPC = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
STS = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
QQP = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
MNLI = "index promptID pairID genre sentence1_binary_parse sentence2_binary_parse".split()
MNLI += "sentence1_parse sentence2_parse sentence1 sentence2".split()
FILES = {
    "CoLA": "gj04\t1\t\tThe cat sat.\ngj04\t0\t*\tCat the sat.",
    "SST-2": "sentence\tlabel\na charming cat . \t1\nno cat\t0\n",
    "MRPC": MRPC + '1\t10\t11\tThe " cat " sat .\t" The cat sat .\n0\t12\t13\tA dog .\tA cat .\n',
    "STS-B": STS + "0\tg\tf\t2012\t01\tnone\tnone\tA cat.\tThe cat.\t4.750\n1\tg\tf\t2012\t02\tnone\tnone\tA.\tB.\t0\n",
    "QNLI": "index\tquestion\tsentence\tlabel\n0\tWho sat?\tThe cat sat.\tentailment\n",
    "RTE": "index\tsentence1\tsentence2\tlabel\r\n0\tThe cat sat.\tIt sat.\tnot_entailment\r\n",
    "WNLI": "index\tsentence1\tsentence2\tlabel\n0\tThe cat sat.\tIt sat.\t1\n",
    "QQP": QQP + "7\t1\t2\tWho sat?\tWho stood?\t0\n",
}


def write(folder, name, part="dev", content=None):
    (folder / f"{part}.tsv").write_bytes((FILES[name] if content is None else content).encode())


def read(folder, name):
    write(folder, name)
    write(folder, name, "train")
    return read_glue(name, str(folder))


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("CoLA", SentenceExample("The cat sat.", None, 1), SentenceExample("Cat the sat.", None, 0)),
        ("SST-2", SentenceExample("a charming cat .", None, 1), SentenceExample("no cat", None, 0)),
        ("MRPC", SentenceExample('The " cat " sat .', '" The cat sat .', 1), SentenceExample("A dog .", "A cat .", 0)),
        ("STS-B", SentenceExample("A cat.", "The cat.", 4.75), SentenceExample("A.", "B.", 0)),
        ("QNLI", *[SentenceExample("Who sat?", "The cat sat.", 0)] * 2),
        ("RTE", *[SentenceExample("The cat sat.", "It sat.", 1)] * 2),
        ("WNLI", *[SentenceExample("The cat sat.", "It sat.", 1)] * 2),
        ("QQP", *[SentenceExample("Who sat?", "Who stood?", 0)] * 2),
    ],
)
def test_read_glue_reads_every_task(tmp_path, name, first, last):
    task = read(tmp_path, name)
    assert task.train == task.validation
    assert (task.validation[0], task.validation[-1]) == (first, last)
    assert task.remarks == ()


def test_mnli_has_other_columns_for_training_and_two_parts_for_evaluation(tmp_path):
    for name, labels in (("train", 1), ("dev_matched", 5), ("dev_mismatched", 5)):
        header = [*MNLI, *(f"label{i + 1}" for i in range(labels)), "gold_label"]
        row = [*"01234567", f"A {name}.", "B.", *["neutral"] * labels, "contradiction"]
        write(tmp_path, "MNLI", name, "\t".join(header) + "\n" + "\t".join(row) + "\n")
    matched, mismatched = (read_glue(name, str(tmp_path)) for name in ("MNLI", "MNLI-MM"))
    assert matched.train == mismatched.train == (SentenceExample("A train.", "B.", 2),)
    assert matched.validation[0].first == "A dev_matched."
    assert mismatched.validation[0].first == "A dev_mismatched."
    assert matched.main_metric == "accuracy"
    (tmp_path / "dev_matched.tsv").rename(tmp_path / "dev.tsv")
    with pytest.raises(BitcipherError, match=r"dev_matched\.tsv"):
        read_glue("MNLI", str(tmp_path))


def test_broken_lines_of_qqp_are_left_out_and_counted(tmp_path):
    write(tmp_path, "QQP", content=FILES["QQP"] + "8\t3\t4\tWhat is\nx?\tWhat is y?\t0\n")
    task = read_glue("QQP", str(tmp_path))
    assert len(task.validation) == 1
    assert task.main_metric == "mean"
    assert "2 of 3 lines of" in task.remarks[-1]
    write(tmp_path, "QQP", content=QQP + "8\t3\t4\tWhat is\n")
    with pytest.raises(BitcipherError, match="has no examples"):
        read_glue("QQP", str(tmp_path))


def test_kinds_labels_and_main_metrics(tmp_path):
    sts = read(tmp_path, "STS-B")
    assert (sts.kind, sts.labels, sts.main_metric) == ("regression", (), "mean")
    rte = read(tmp_path, "RTE")
    assert (rte.kind, rte.labels, rte.main_metric) == ("classification", ("entailment", "not_entailment"), "accuracy")
    assert read(tmp_path, "CoLA").main_metric == "matthews"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("CoLA", "gj04\t1\t\tFine.\ngj04\t1\tFine.\n", r"Line 2 of .*dev\.tsv has 3 columns instead of 4"),
        ("CoLA", "gj04\t2\t\tFine.\n", r"Line 1 of .*dev\.tsv has the label '2', not 0 or 1"),
        ("RTE", FILES["RTE"] + "1\tA.\tB.\tmaybe\r\n", r"Line 3 of .*'maybe', not entailment or not_entailment"),
        ("RTE", FILES["RTE"] + "\n1\tA.\tB.\tentailment\n", r"Line 3 of .* has 1 columns"),
        ("STS-B", STS + "0\tg\tf\ty\to\ts\ts\tA.\tB.\tnan\n", r"Line 2 of .*'nan', not a number from 0 to 5"),
        ("STS-B", STS + "0\tg\tf\ty\to\ts\ts\tA.\tB.\t6\n", r"Line 2 of .*'6', not a number from 0 to 5"),
        ("SST-2", "no cat\t0\n", r"Line 1 of .* must name the columns sentence, label"),
        ("SST-2", "", r"Line 1 of .* must name the columns"),
        ("SST-2", "sentence\tlabel\n", "has no examples"),
        ("CoLA", "", "has no examples"),
    ],
)
def test_invalid_line_raises_with_file_and_number(tmp_path, name, content, message):
    write(tmp_path, name, content=content)
    with pytest.raises(BitcipherError, match=message):
        read_glue(name, str(tmp_path))


def test_invalid_utf8_raises_with_line_number(tmp_path):
    (tmp_path / "dev.tsv").write_bytes(b"sentence\tlabel\nfine\t1\nca\xe9\t0\n")
    with pytest.raises(BitcipherError, match=r"Line 3 of .*dev\.tsv is not text in UTF-8"):
        read_glue("SST-2", str(tmp_path))


def test_unknown_task_and_missing_file_raise(tmp_path):
    with pytest.raises(BitcipherError, match=r"no GLUE task 'AX'.*CoLA"):
        read_glue("AX", str(tmp_path))
    with pytest.raises(BitcipherError, match=r"dev\.tsv"):
        read_glue("RTE", str(tmp_path))


def test_task_without_train_file_can_only_be_evaluated(tmp_path):
    write(tmp_path, "QNLI")
    task = read_glue("QNLI", str(tmp_path))
    assert "can be evaluated, but not trained on" in task.remarks[0]
    assert len(task.features("validation", encoder())) == 1
    with pytest.raises(BitcipherError, match="QNLI has no examples to train on"):
        task.features("train", encoder())


def test_features_of_pairs(tmp_path):
    made = encoder(length=24, token_types=True)
    features = read(tmp_path, "MRPC").features("train", made)
    assert features.targets["labels"].tolist() == [1, 0]
    first, second = (made.pieces([text])[0].ids.tolist() for text in ("A dog .", "A cat ."))
    specials = made.specials
    row = [specials.begin, *first, specials.end, *second, specials.end]
    assert features.inputs["input_ids"][1].tolist() == row + [specials.pad] * (24 - len(row))
    assert features.inputs["token_type_ids"][1].sum() == len(second) + 1
    assert features.inputs["attention_mask"].sum(axis=1)[1] == len(row)


def test_targets_of_regression_are_values(tmp_path):
    labels = read(tmp_path, "STS-B").features("validation", encoder()).targets["labels"]
    assert labels.dtype == np.float32
    assert labels.tolist() == [4.75, 0]


def test_long_sentences_are_truncated_with_remark(tmp_path):
    write(tmp_path, "CoLA", content="a\t1\t\tThe cat.\na\t1\t\t" + "the cat sat " * 20)
    features = read_glue("CoLA", str(tmp_path)).features("validation", made := encoder(length=16))
    assert features.inputs["input_ids"][1, -1] == made.specials.end
    assert features.remarks == ("1 of 2 examples (validation) were truncated to 16 tokens.",)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(2, 15))
def test_longer_sentence_of_pair_is_truncated_first(first, second, room):
    a, b = first, second
    while a + b > room:
        a, b = (a - 1, b) if a > b else (a, b - 1)
    fitting = _fit(np.arange(first), np.arange(second), room)
    assert [part.tolist() for part in fitting] == [list(range(a)), list(range(b))]


def test_predictions_and_scores(tmp_path):
    cola = read(tmp_path, "CoLA")
    features = cola.features("validation", encoder())
    assert cola.predictions(features, {"logits": np.array([[0.1, 0.2], [3.0, -1.0]])}).tolist() == [1, 0]
    assert cola.score(np.array([1, 0])) == {"matthews": 100}
    assert cola.score(np.array([1, 1])) == {"matthews": 0}
    sts = read(tmp_path, "STS-B")
    values = sts.predictions(sts.features("validation", encoder()), {"logits": np.array([[4.0], [1.5]], np.float32)})
    assert values.tolist() == [4.0, 1.5]
    assert sts.score(values) == {
        "pearson": pytest.approx(100),
        "spearman": pytest.approx(100),
        "mean": pytest.approx(100),
    }


def test_nan_outputs_raise(tmp_path):
    task = read(tmp_path, "CoLA")
    with pytest.raises(BitcipherError, match=r"CoLA.*diverged"):
        task.predictions(task.features("validation", encoder()), {"logits": np.array([[0, 1], [np.nan, 0]])})


def test_empty_split_raises():
    with pytest.raises(BitcipherError, match="no examples to evaluate on"):
        get_examples(SentenceTask("Mine", "classification", ("0", "1"), (), (), ("accuracy",)), "validation")
