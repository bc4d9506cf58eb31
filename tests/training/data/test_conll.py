import gzip

import labeled
import pytest

from bitcipher.errors import BitcipherError
from training.data.conll import read_conll2003, read_conllu
from training.evaluation.probes.tasks import read_task

CONLLU = """# newdoc
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tVBP\t_\t0\t_\t_\t_
2\tn't\tnot\tPART\tRB\t_\t0\t_\t_\t_
2.1\tleft\tleave\tVERB\tVBN\t_\t_\t_\t_\t_

# text = Go
1\tGo\tgo\tVERB\tVB\t_\t0\t_\t_\t_
"""

CONLL2003 = """-DOCSTART- -X- O O

EU NNP I-NP I-ORG
rejects VBZ I-VP O

-DOCSTART- -X- O O

Rome NNP I-NP I-LOC
Paris NNP I-NP B-LOC
"""


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.gz"])
def test_read_conllu_returns_words_with_xpos(tmp_path, name, ending):
    content = CONLLU.replace("\n", ending).encode()
    path = written(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    assert read_conllu(path) == [[("do", "VBP"), ("n't", "RB")], [("Go", "VB")]]


def test_read_conll2003_returns_documents_with_tags(tmp_path):
    assert read_conll2003(written(tmp_path / "eng.train", CONLL2003)) == [
        [[("EU", "I-ORG"), ("rejects", "O")]],
        [[("Rome", "I-LOC"), ("Paris", "B-LOC")]],
    ]


@pytest.mark.parametrize(
    ("read", "content", "sentence"),
    [
        (read_conllu, "1\tGo\tgo", r"Line 1 of .* has 3 columns instead of the 10 tab-separated columns of CoNLL-U"),
        (read_conllu, CONLLU + "1\tGo\tgo\tVERB\t_\t_\t0\t_\t_\t_", r"Line 9 of .* has no xpos tag for 'Go'"),
        (read_conllu, "# only a comment\n", r"has no labeled words"),
        (read_conllu, b"\xff\xff", r"not text in UTF-8"),
        (read_conll2003, "EU NNP I-ORG", r"Line 1 of .* has 3 columns instead of the 4 of CoNLL-2003"),
        (read_conll2003, "EU NNP I-NP ORG", r"Line 1 of .* has the entity 'ORG'"),
        (read_conll2003, "-DOCSTART- -X- O O\n", r"has no labeled words"),
        (read_conll2003, "", r"has no labeled words"),
    ],
)
def test_damaged_file_raises(tmp_path, read, content, sentence):
    with pytest.raises(BitcipherError, match=sentence):
        read(written(tmp_path / "file", content))


def test_invalid_gzip_raises(tmp_path):
    path = tmp_path / "a.conllu.gz"
    content = gzip.compress(CONLLU.encode() * 99)
    for damaged in (content[:-9], content[:40] + b"\xff\xff" + content[42:]):
        path.write_bytes(damaged)
        with pytest.raises(BitcipherError, match=r"a.conllu.gz is not a complete gzip file"):
            read_conllu(str(path))


def test_read_task_reads_all_splits(tmp_path):
    pos = read_task("pos", str(labeled.write_gum(tmp_path / "gum")))
    assert pos.labels == sorted(labeled.TAGS)
    assert all(word == word.lower() for word in pos.words)
    assert not pos.has_spans
    ner = read_task("ner", str(labeled.write_conll2003(tmp_path / "conll")))
    assert ner.labels == sorted(labeled.KINDS)
    assert ner.has_spans
    # One of twelve documents of ten sentences is held out for validation.
    assert ner.train.sentences[-1] + 1 == 110
    assert ner.validation.sentences[-1] + 1 == 10
    assert ner.test.sentences[-1] + 1 == 120
    again = read_task("ner", str(tmp_path / "conll"))
    assert again.validation.words.tolist() == ner.validation.words.tolist()


def test_conll_with_its_test_part_has_the_published_splits(tmp_path):
    folder = labeled.write_conll2003(tmp_path / "conll")
    without = read_task("ner", str(folder))
    written(folder / "eng.testb", CONLL2003)
    ner = read_task("ner", str(folder))
    assert ner.train.sentences[-1] + 1 == 120
    assert [ner.words[word] for word in ner.validation.words] == [without.words[word] for word in without.test.words]
    assert [ner.words[word] for word in ner.test.words] == ["eu", "rejects", "rome", "paris"]


def test_missing_task_or_file_raises(tmp_path):
    with pytest.raises(BitcipherError, match="There is no task 'chunks'; choose pos or ner"):
        read_task("chunks", str(tmp_path))
    with pytest.raises(BitcipherError, match=r"must contain exactly one file named …-train\.conllu, found none"):
        read_task("pos", str(tmp_path))
    written(tmp_path / "eng.train", CONLL2003)
    with pytest.raises(BitcipherError, match=r"must contain exactly one file named eng\.testa, found none"):
        read_task("ner", str(tmp_path))
    written(tmp_path / "eng.testa", CONLL2003)
    written(tmp_path / "eng.train", "EU NNP I-NP I-ORG\n")
    with pytest.raises(BitcipherError, match="has only one document, so none can be held out"):
        read_task("ner", str(tmp_path))
