import gzip

import labeled
import pytest

from bitcipher.errors import BitcipherError
from training.probes import read_task
from training.probes.readers import read_conll2003, read_conllu

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
def test_conllu_gives_words_and_their_xpos(tmp_path, name, ending):
    content = CONLLU.replace("\n", ending).encode()
    path = written(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    assert read_conllu(path) == [[("do", "VBP"), ("n't", "RB")], [("Go", "VB")]]


def test_conll2003_gives_documents_with_the_tags_of_the_file(tmp_path):
    assert read_conll2003(written(tmp_path / "eng.train", CONLL2003)) == [
        [[("EU", "I-ORG"), ("rejects", "O")]],
        [[("Rome", "I-LOC"), ("Paris", "B-LOC")]],
    ]


@pytest.mark.parametrize(
    ("read", "content", "sentence"),
    [
        (read_conllu, "1\tGo\tgo", r"Line 1 of .* has 3 columns, where CoNLL-U has 10"),
        (read_conllu, CONLLU + "1\tGo\tgo\tVERB\t_\t_\t0\t_\t_\t_", r"Line 9 of .* gives 'Go' no xpos"),
        (read_conllu, "# only a comment\n", r"holds no labeled words"),
        (read_conllu, b"\xff\xfe", r"cannot be read as text"),
        (read_conll2003, "EU NNP I-ORG", r"Line 1 of .* has 3 columns, where CoNLL-2003 has 4"),
        (read_conll2003, "EU NNP I-NP ORG", r"Line 1 of .* has the entity 'ORG'"),
        (read_conll2003, "-DOCSTART- -X- O O\n", r"holds no labeled words"),
        (read_conll2003, "", r"holds no labeled words"),
    ],
)
def test_a_damaged_file_is_told_in_a_sentence(tmp_path, read, content, sentence):
    with pytest.raises(BitcipherError, match=sentence):
        read(written(tmp_path / "file", content))


def test_a_file_that_is_no_gzip(tmp_path):
    with pytest.raises(BitcipherError, match="cannot be read as text"):
        read_conllu(written(tmp_path / "a.conllu.gz", CONLLU))


def test_the_tasks_are_read_from_their_folders(tmp_path):
    pos = read_task("pos", str(labeled.write_gum(tmp_path / "gum")))
    assert pos.labels == sorted(labeled.TAGS)
    assert all(word == word.lower() for word in pos.words)
    assert not pos.has_spans
    ner = read_task("ner", str(labeled.write_conll2003(tmp_path / "conll")))
    assert ner.labels == sorted(labeled.KINDS)
    assert ner.has_spans
    # Of twelve documents of ten sentences, one is kept for validation, whole.
    assert ner.train.sentences[-1] + 1 == 110
    assert ner.validation.sentences[-1] + 1 == 10
    assert ner.test.sentences[-1] + 1 == 120
    again = read_task("ner", str(tmp_path / "conll"))
    assert again.validation.words.tolist() == ner.validation.words.tolist()


def test_what_is_missing_is_told_in_a_sentence(tmp_path):
    with pytest.raises(BitcipherError, match="There is no task 'chunks': choose pos or ner"):
        read_task("chunks", str(tmp_path))
    with pytest.raises(BitcipherError, match=r"should hold one file named …-train\.conllu, and holds none"):
        read_task("pos", str(tmp_path))
    written(tmp_path / "eng.train", CONLL2003)
    with pytest.raises(BitcipherError, match=r"should hold one file named eng\.testa, and holds none"):
        read_task("ner", str(tmp_path))
    written(tmp_path / "eng.testa", CONLL2003)
    written(tmp_path / "eng.train", "EU NNP I-NP I-ORG\n")
    with pytest.raises(BitcipherError, match="is one document, of which none can be kept"):
        read_task("ner", str(tmp_path))
