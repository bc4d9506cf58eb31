"""Prepared token shards: their cache keys and contents."""

import gzip
import json
import os
import random
import textwrap
from pathlib import Path

import numpy as np
import pytest
from tiny_prepared import content_of, recipe_of, text_of, vectors_of, written
from tiny_runs import tiny_documents

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.ingest.sources import Source, list_sources
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from training.data import token_shards
from training.data.token_shards import is_validation
from training.data.token_streams import TokenDataset
from training.data.tokenizer_files import tokenizer_json
from training.data.train_tokenizer import sample_documents, train_tokenizer
from training.models.embeddings.embedding_table import token_embeddings
from training.runs.prepare import text
from training.runs.prepare.cached_dir import cached_dir
from training.runs.prepare.text import name_sources, plan_inputs
from training.runs.prepare.vectors import prepare_vectors

ARABIC = [f"قال الرجل للملك {number} مرة إنّ البيت بعيد والطريق طويل" for number in range(200)]


class Backwards(InProcessRuntime):
    """Runtime that processes the last source first, as one of many workers may."""

    def stream(self, spec, inputs):
        return super().stream(spec, inputs[::-1])


def test_text_is_prepared_once(corpus, tmp_path):
    recipe = recipe_of(corpus)
    first = text_of(recipe, tmp_path / "prepared")
    (first / "kept").touch()
    assert text_of(recipe, tmp_path / "prepared") == first
    assert (first / "kept").exists()
    assert [path.name for path in (tmp_path / "prepared").iterdir()] == [first.name]
    assert TokenDataset.open(str(first)).train.n_documents > 80


class Many(Backwards):
    """Runtime that claims to have many workers, among which a large source is divided."""

    workers = 3


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_large_source_is_divided_among_workers(tmp_path, monkeypatch, ending):
    documents = [f"{text} {number}" for number, text in enumerate(tiny_documents())]
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    content = "".join(json.dumps({"text": text}) + "\n" for text in documents).encode()
    (corpus / f"a{ending}").write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    (corpus / "small.txt").write_text("A small file.")
    recipe = recipe_of(corpus)
    whole = TokenDataset.open(str(text_of(recipe, tmp_path / "whole")))
    monkeypatch.setattr(token_shards, "PART_CHARACTERS", 300)
    parts = text_of(recipe, tmp_path / "parts")
    monkeypatch.setattr(text, "SHARED_BYTES", 300)
    (source, _) = list_sources([str(corpus)])
    inputs = plan_inputs({0: (source, 0.2)}, 3)
    assert [(item.reader, item.readers) for item in inputs] == [(0, 3), (1, 3), (2, 3)]
    divided = text_of(recipe, tmp_path / "divided", Many())
    assert content_of(divided) == content_of(parts)
    # Parts have the same tokens in the same order.
    divided = TokenDataset.open(str(divided))
    for stream, expected in ((divided.train, whole.train), (divided.validation, whole.validation)):
        assert len(stream.shard_names) > 5
        assert stream.ends.tolist() == expected.ends.tolist()
        assert (stream.read(np.array([0]), len(stream)) == expected.read(np.array([0]), len(stream))).all()


def test_sources_are_read_by_as_many_workers_as_needed():
    def readers(sizes, workers, uri="/corpus/{}.jsonl", format="jsonl"):
        sources = {
            number: (Source(uri=uri.format(number), size=size << 20, format=format), 0.1)
            for number, size in enumerate(sizes)
        }
        inputs = plan_inputs(sources, workers)
        return [sum(item.source == source for item in inputs) for source, _ in sources.values()]

    assert readers([10_000], 8) == [8]
    assert readers([10_000], 0) == [1]
    assert readers([100], 8) == [1]
    assert readers([100] * 100, 8) == [1] * 100
    assert readers([10_000, 10, 10], 4) == [4, 1, 1]
    assert readers([10_000], 8, "https://example.org/{}.jsonl") == [1]
    assert readers([10_000], 8, "hf://name?split={}", "hf") == [1]


def test_renamed_sources_give_same_text(corpus, tmp_path):
    first = text_of(recipe_of(corpus), tmp_path / "prepared")
    for name in ("a", "b", "c"):
        (corpus / f"{name}.txt").rename(corpus / f"part-{name}.txt")
    corpus = corpus.rename(tmp_path / "moved")
    assert text_of(recipe_of(corpus), tmp_path / "prepared") == first
    assert text_of(recipe_of(corpus / "*.txt"), tmp_path / "prepared") == first


@pytest.mark.parametrize(
    "changed",
    [
        {"tokenizer": {"vocab_size": 290}},
        {"tokenizer": {"lowercase": True}},
        {"validation_fraction": 0.3},
        {"document": "file", "validation_fraction": 0.0001},
    ],
    ids=str,
)
def test_options_change_text(corpus, tmp_path, changed):
    first = text_of(recipe_of(corpus), tmp_path / "prepared")
    assert text_of(recipe_of(corpus, **changed), tmp_path / "prepared") != first


def test_contents_change_text(corpus, tmp_path):
    first = text_of(recipe_of(corpus), tmp_path / "prepared")
    text = (corpus / "b.txt").read_text()
    (corpus / "b.txt").write_text(text.replace("dog", "cow", 1))
    second = text_of(recipe_of(corpus), tmp_path / "prepared")
    (corpus / "b.txt").write_text(text)
    assert first != second
    assert text_of(recipe_of(corpus), tmp_path / "prepared") == first


def test_reading_changes_text(corpus, tmp_path):
    file = tmp_path / "corpus.txt"
    file.write_bytes(b"\n".join(path.read_bytes() for path in sorted(corpus.iterdir())))
    utf8 = text_of(recipe_of(file), tmp_path / "prepared")
    latin = text_of(recipe_of(file, encoding="latin-1"), tmp_path / "prepared")
    assert utf8 != latin


def test_tokenizer_is_identified_by_content(corpus, tmp_path):
    first = text_of(recipe_of(corpus), tmp_path / "prepared")
    paths = [tmp_path / "one.json", tmp_path / "two.json"]
    for path in paths:
        path.write_bytes((first / "tokenizer.json").read_bytes())
    texts = [text_of(recipe_of(corpus, tokenizer={"path": str(path)}), tmp_path / "prepared") for path in paths]
    assert texts[0] == texts[1]
    contents = [content_of(each) for each in (texts[0], first)]
    for each in contents:
        del each["inputs.json"]  # which names what the tokenizer was made from
    assert contents[0] == contents[1]


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_order_of_shards_changes_no_byte(corpus, tmp_path, kind):
    start = {"init": "cipher", "build": {"mode": "sum", "bits": 10, "window": 2}}
    recipe = recipe_of(corpus, start, tokenizer={"kind": kind, "vocab_size": 270 if kind == "bpe" else 60})
    made = []
    for runtime in (InProcessRuntime(), Backwards()):
        prepared = tmp_path / type(runtime).__name__
        text, build = text_of(recipe, prepared, runtime), vectors_of(recipe, prepared, runtime)
        made.append((content_of(text), CipherVectors.load(build)))
    assert made[0][0] == made[1][0]
    (_, one), (_, other) = made
    assert one.index_to_key == other.index_to_key
    np.testing.assert_array_equal(one.vectors, other.vectors)


def test_validation_documents_are_not_counted(tmp_path):
    documents = [f"{text} w{number}" for number, text in enumerate(tiny_documents())]
    corpus = written(tmp_path / "corpus", documents)
    start = {"init": "cipher", "build": {"mode": "sum", "bits": 12, "window": 2}}
    recipe = recipe_of(corpus, start, tokenizer={"kind": "wordpiece", "vocab_size": 600})
    vectors = CipherVectors.load(vectors_of(recipe, tmp_path / "prepared"))
    tokenizer = TokenDataset.open(str(text_of(recipe, tmp_path / "prepared"))).tokenizer
    table = token_embeddings(vectors, tokenizer)
    # Each document has a unique word, which is one token.
    for number, document in enumerate(documents):
        token = tokenizer.token_to_id(f"w{number}")
        assert token is not None
        assert table.counts[token] == (0 if is_validation(document, 0.2) else 1)
        assert table.has_vector[token] == (table.counts[token] > 0)
    trained_on = [document for document in documents if not is_validation(document, 0.2)]
    assert 0 < len(trained_on) < len(documents)
    assert table.counts[tokenizer.token_to_id("nobody")] == sum(text.count("nobody") for text in trained_on)


def test_validation_sources(corpus, tmp_path):
    spoken = written(tmp_path / "spoken", ["Somebody said so.", "Nobody heard it."], ("a.txt",))
    start = {"init": "cipher", "build": {"mode": "sum", "bits": 12, "window": 2}}
    recipe = recipe_of(corpus, start, validation_sources=[str(spoken)])
    text = TokenDataset.open(str(text_of(recipe, tmp_path / "prepared")))
    assert (text.train.n_documents, text.validation.n_documents) == (len(set(tiny_documents())), 2)
    said = text.validation.read(np.array([0]), int(text.validation.ends[0]))[0]
    assert text.tokenizer.decode(said[:-1].tolist()) == "Somebody said so."
    # All other documents are in the training split, and counted.
    table = token_embeddings(CipherVectors.load(vectors_of(recipe, tmp_path / "prepared")), text.tokenizer)
    assert table.counts.sum() == len(text.train) - text.train.n_documents
    assert text_of(recipe, tmp_path / "prepared") != text_of(recipe_of(corpus, start), tmp_path / "prepared")


def test_held_out_sources_and_documents_are_left_out(tmp_path, capsys):
    documents = [f"{text} w{number}" for number, text in enumerate(tiny_documents())]
    documents[5] += " zyzzyva"
    corpus = written(tmp_path / "corpus", documents)
    held_out = tmp_path / "held_out"
    held_out.mkdir()
    (held_out / "copy.txt").write_bytes((corpus / "b.txt").read_bytes())
    (held_out / "other.txt").write_text("\n".join([documents[0], documents[5], "Nobody heard it."]))
    start = {"init": "cipher", "build": {"mode": "sum", "bits": 12, "window": 2}}
    tokenizer = {"kind": "wordpiece", "vocab_size": 600}
    recipe = recipe_of(corpus, start, validation_sources=[str(held_out)], tokenizer=tokenizer)
    vectors = CipherVectors.load(vectors_of(recipe, tmp_path / "prepared"))
    assert "files of `text.sources`: 1;" in capsys.readouterr().err
    folder = text_of(recipe, tmp_path / "prepared")
    assert "documents of its other files: 2." in capsys.readouterr().err  # also when the text is there
    text = TokenDataset.open(str(folder))
    trained = {document for number, document in enumerate(documents) if number % 3 != 1 and number not in (0, 5)}
    assert text.train.n_documents == len(trained)
    assert text.validation.n_documents == len(documents[1::3]) + 3
    # Vectors count the training text only, and the tokenizer has never seen other words.
    table = token_embeddings(vectors, text.tokenizer)
    assert table.counts.sum() == len(text.train) - text.train.n_documents
    assert not any("z" in token for token in text.tokenizer.get_vocab())


def test_sources_that_are_all_held_out_raise(corpus, tmp_path):
    with pytest.raises(BitcipherError, match=r"All files of `text.sources` are also in `text.validation_sources`"):
        text_of(recipe_of(corpus, validation_sources=[str(corpus)]), tmp_path / "prepared")


def test_names_of_sources(corpus, tmp_path):
    spoken = written(tmp_path / "spoken", ["Somebody said so.", "Nobody heard it."], ("a.txt",))
    assert name_sources(recipe_of(corpus).text) == {"00000": "a.txt", "00001": "b.txt", "00002": "c.txt"}
    names = name_sources(recipe_of(corpus / "*.txt", validation_sources=[str(spoken / "a.txt")]).text)
    assert list(names.items())[2:] == [("00002", "corpus/c.txt"), ("00003", "spoken/a.txt")]
    assert name_sources(recipe_of(corpus / "a.txt").text) == {"00000": "a.txt"}


def test_arabic_text(tmp_path):
    corpus = written(tmp_path / "corpus", ARABIC)
    for kind, size in (("bpe", 400), ("wordpiece", 120), ("unigram", 80)):
        recipe = recipe_of(corpus, {"init": "cipher"}, tokenizer={"kind": kind, "vocab_size": size})
        text = TokenDataset.open(str(text_of(recipe, tmp_path / "prepared")))
        assert text.train.n_documents == sum(not is_validation(document, 0.2) for document in ARABIC)
        tokens = text.train.read(np.array([0]), int(text.train.ends[0]) - 1)[0]
        first = next(line for line in sorted_lines(corpus) if not is_validation(line, 0.2))
        assert text.tokenizer.decode(tokens.tolist()).replace(" ", "") == first.replace(" ", "")
        table = token_embeddings(CipherVectors.load(vectors_of(recipe, tmp_path / "prepared")), text.tokenizer)
        assert set(np.flatnonzero(table.counts)) <= set(np.flatnonzero(table.has_vector))
        assert table.counts.sum() == len(text.train) - text.train.n_documents


def sorted_lines(corpus):
    """Return the documents in reading order."""
    return [line for path in sorted(corpus.iterdir()) for line in path.read_text().split("\n")]


@pytest.mark.long
def test_long_document_is_one_document(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    words = [f"{a}{b}" for a in "kmnprst" for b in "aeiou"]
    chance = random.Random(1)
    long = " ".join(chance.choices(words, k=700_000))
    assert len(long) > 2_000_000
    (corpus / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in [long, *tiny_documents(20)]))
    recipe = recipe_of(corpus, {"init": "cipher", "build": {"mode": "sum", "bits": 10, "window": 1}})
    assert not is_validation(long, 0.2)
    text = TokenDataset.open(str(text_of(recipe, tmp_path / "prepared")))
    tokens = text.train.read(np.array([0]), int(text.train.ends[0]) - 1)[0]
    assert text.tokenizer.decode(tokens.tolist()) == long
    table = token_embeddings(CipherVectors.load(vectors_of(recipe, tmp_path / "prepared")), text.tokenizer)
    assert table.counts.sum() == len(text.train) - text.train.n_documents


def test_tokenizer_of_a_sample(tmp_path, capsys):
    documents = tiny_documents()
    sample = list(sample_documents(documents, 0.3))
    assert 0.15 * len(documents) < len(sample) < 0.45 * len(documents)
    assert list(sample_documents(documents, 1.0)) == documents
    source = written(tmp_path / "corpus", documents)
    text = text_of(recipe_of(source, tokenizer={"sample_fraction": 0.3}), tmp_path / "prepared")
    expected = train_tokenizer(sample, "bpe", 280)
    assert (text / "tokenizer.json").read_bytes() == tokenizer_json(expected)
    assert f"The tokenizer was trained on {len(sample)} documents" in capsys.readouterr().err


def test_wrapped_lines_are_reported(tmp_path, capsys):
    lines = textwrap.wrap(" ".join(tiny_documents()), 70)
    paragraphs = ["\n".join(lines[at : at + 9]) for at in range(0, len(lines), 9)]
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "book.txt").write_text("\n\n".join(paragraphs))
    text_of(recipe_of(corpus), tmp_path / "prepared")
    assert f"{corpus}/book.txt looks like text with wrapped lines" in capsys.readouterr().err
    (corpus / "another.txt").write_text("Another text.")
    text_of(recipe_of(corpus, document="file", validation_sources=[str(corpus / "another.txt")]), tmp_path / "files")
    assert "wrapped" not in capsys.readouterr().err


def test_source_that_was_added_after_packing_is_not_counted(corpus, tmp_path):
    start = {"init": "cipher", "build": {"mode": "sum", "bits": 10, "window": 2}}
    recipe = recipe_of(corpus, start)
    text = str(text_of(recipe, tmp_path / "prepared"))
    (corpus / "d.txt").write_text("a zebra sees a zebra\n" * 50)
    prepared = str(tmp_path / "prepared")
    vectors = prepare_vectors(recipe, text, prepared, InProcessRuntime(), StageProgress())
    (corpus / "d.txt").unlink()
    alone = prepare_vectors(recipe, text, str(tmp_path / "alone"), InProcessRuntime(), StageProgress())
    first, second = (CipherVectors.load(each) for each in (vectors, alone))
    np.testing.assert_array_equal(first.vectors, second.vectors)
    (corpus / "a.txt").write_text("changed\n")
    with pytest.raises(BitcipherError, match="changed while they were read"):
        prepare_vectors(recipe, text, str(tmp_path / "changed"), InProcessRuntime(), StageProgress())


def test_concurrent_preparation(tmp_path):
    def write(folder):
        Path(folder, "made").write_text("whole")

    def write_while_another_is_faster(folder):
        write(folder)
        cached_dir(str(tmp_path), "text", inputs, write, os.path.isdir)

    inputs = {"version": 1}
    folder = cached_dir(str(tmp_path), "text", inputs, write_while_another_is_faster, os.path.isdir)
    assert content_of(Path(folder)) == {"made": b"whole", "inputs.json": json_files.to_checked_bytes(inputs)}
    assert os.listdir(tmp_path) == [Path(folder).name]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"tokenizer": {"vocab_size": 20}}, "must be at least"),
        ({"validation_fraction": 0.999999}, "has no documents"),
        ({"tokenizer": {"path": "nowhere.json"}}, "nowhere.json"),
    ],
)
def test_failed_text_leaves_no_folder(corpus, tmp_path, changed, sentence):
    with pytest.raises(BitcipherError, match=sentence):
        text_of(recipe_of(corpus, **changed), tmp_path / "prepared")
    assert not (tmp_path / "prepared").exists() or not list((tmp_path / "prepared").iterdir())


def test_damaged_source_leaves_no_folder(corpus, tmp_path):
    whole = gzip.compress("\n".join(tiny_documents()).encode())
    (corpus / "d.txt.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BitcipherError, match=r"d\.txt\.gz is truncated"):
        text_of(recipe_of(corpus), tmp_path / "prepared")
    assert not list((tmp_path / "prepared").iterdir())
