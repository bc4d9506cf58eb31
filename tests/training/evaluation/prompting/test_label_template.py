"""Templates of prompts: texts of examples, and one sentence for each mistake."""

from pathlib import Path

import pytest

from bitcipher.errors import BitcipherError
from training.evaluation import prompting
from training.evaluation.prompting.label_template import find_template, read_template
from training.evaluation.prompting.labeled_rows import read_labeled_rows

SHIPPED = sorted(path.stem for path in (Path(prompting.__file__).parent / "templates").glob("*.yaml"))


def read(tmp_path, text):
    (tmp_path / "template.yaml").write_text(text)
    return read_template(str(tmp_path / "template.yaml"))


def test_shipped_templates():
    assert SHIPPED == ["rte", "sst2", "trec", "trec-chain-of-thought"]
    templates = {name: read_template(find_template(name)) for name in SHIPPED}
    assert [name for name, template in templates.items() if template.has_reasoning] == ["trec-chain-of-thought"]
    assert templates["rte"].columns == ("sentence1", "sentence2")
    thought = templates["trec-chain-of-thought"]
    assert sorted(example["label_coarse"] for example in thought.examples) == sorted(thought.labels)
    with pytest.raises(BitcipherError, match="There is no prompt template 'none'; choose from rte, sst2"):
        find_template("none")


def test_texts_of_an_example(tmp_path):
    template = read(tmp_path, 'template: "{4} {x} {label}.\\n"\nlabel_column: 2\nlabels: {0: "no", 1: "yes"}\n')
    # Braces of values stay, and labels of YAML are strings.
    row = {"4": "a {label} {x}", "x": "b", "2": "1"}
    assert template.columns == ("4", "x")
    assert template.beginning(row) == "a {label} {x} b "
    assert template.demonstration(row) == "a {label} {x} b yes.\n"
    thought = read_template(find_template("trec-chain-of-thought"))
    row = {"text": "Who ?", "label_coarse": "HUM", "reasoning": "Somebody."}
    assert thought.beginning(row) == "Question: Who ?\nReasoning: "
    assert thought.before_label == "\nIt asks for "
    assert thought.demonstration(row) == "Question: Who ?\nReasoning: Somebody.\nIt asks for a person.\n\n"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("[a]", "must contain `template` and `labels`"),
        ('template: "{a} {label}"\n', "`labels` is missing"),
        ('template: "{a} {label}"\nlabels: {x: y}\n', "`labels` must have words for two or more"),
        ('template: "{a}"\nlabels: {x: y, z: w}\n', r"`template` must have columns .* got '\{a\}'"),
        ('template: "{label}"\nlabels: {x: y, z: w}\n', "`template` must have columns"),
        ('template: "{label} {a}"\nlabels: {x: y, z: w}\n', "`template` must have columns"),
        ('template: "{a} {label} {label}"\nlabels: {x: y, z: w}\n', "`template` must have columns"),
        ('template: "{a} {reasoning} {label}"\nlabels: {x: y, z: w}\n', "`examples` are missing"),
        (
            'template: "{a} {reasoning} {label}"\nlabels: {x: y, z: w}\nexamples: [{a: b, label: x}]\n',
            "Example 1 of `examples` lacks reasoning",
        ),
        (
            'template: "{a} {label}"\nlabels: {x: y, z: w}\nexamples: [{a: b, label: x}, {a: b, label: q}]\n',
            "Example 2 of `examples` has the label 'q', which is not in `labels`: x, z",
        ),
        ('template: "{a} {label}"\nlabels: {x: y, z: w}\nshots: 1\n', "there is no option `shots`"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, text, fact):
    with pytest.raises(BitcipherError, match=fact):
        read(tmp_path, text)


def test_rows_have_the_columns_of_the_template(tmp_path):
    template = read(tmp_path, 'template: "{a} {label}"\nlabels: {0: "no", 1: "yes"}\n')
    (tmp_path / "one.tsv").write_text("id\tlabel\ta\n1\t0\tb\n2\t1\tc\n")
    (tmp_path / "two.jsonl").write_text('{"label": 1, "a": "d"}\n')
    rows = read_labeled_rows([str(tmp_path / "one.tsv"), str(tmp_path / "two.jsonl")], template)
    assert rows == [{"a": "b", "label": "0"}, {"a": "c", "label": "1"}, {"a": "d", "label": "1"}]
    (tmp_path / "three.jsonl").write_text('{"label": 2, "a": "d"}\n')
    with pytest.raises(BitcipherError, match=r"Example 1 of .*three\.jsonl has the label '2'"):
        read_labeled_rows([str(tmp_path / "three.jsonl")], template)
    (tmp_path / "four.tsv").write_text("label\ta\n")
    with pytest.raises(BitcipherError, match="has no examples"):
        read_labeled_rows([str(tmp_path / "four.tsv")], template)
