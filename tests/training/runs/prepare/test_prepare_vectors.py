"""Prepared counts and vectors of the tokens of a text."""

import json

import numpy as np
import pytest
from tiny_prepared import recipe_of, text_of, vectors_of, written
from tiny_runs import tiny_documents

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.builds.build import build, update
from pipelines.options import BuildOptions, UpdateOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress


def test_vectors_are_prepared_once(corpus, tmp_path):
    def made(model=None, **build):
        return vectors_of(recipe_of(corpus, {"init": "cipher", "build": build}, model), tmp_path / "prepared")

    first = made(mode="sum", bits=9)
    assert made(mode="sum", bits=9) == first
    assert made(mode="sum", bits=10) != first
    # Spectral vectors have the width of the model.
    assert CipherVectors.load(made()).vector_size == 8
    model = {"architecture": "roberta", "tie_word_embeddings": False, "embedding_size": 6}
    assert CipherVectors.load(made(model)).vector_size == 6
    assert CipherVectors.load(made(model)).spelling is None
    assert CipherVectors.load(made(model, spelling_share=0.4)).spelling is not None
    assert CipherVectors.load(made(model, mode="sum")).vector_size == 6
    leftovers = [path for path in (tmp_path / "prepared").rglob("*") if path.name.startswith((".", "training."))]
    assert leftovers == []


def test_text_is_counted_once_for_all_sizes_of_vectors(corpus, tmp_path):
    stages: list[str] = []

    class Recorded(InProcessRuntime):
        def stream(self, spec, inputs):
            stages.append(spec.name)
            return super().stream(spec, inputs)

    def made(size, **build):
        recipe = recipe_of(corpus, {"init": "cipher", "build": build}, {"hidden_size": size})
        return CipherVectors.load(vectors_of(recipe, tmp_path / "prepared", Recorded()))

    assert [made(size).vector_size for size in (8, 6, 4)] == [8, 6, 4]
    assert made(8, mode="sum", noise="none").vector_size == 8
    assert stages.count("count") == 1
    made(8, window=2)
    assert stages.count("count") == 2


@pytest.mark.parametrize("document", ["line", "file"])
def test_vectors_are_those_of_a_build_of_the_training_text(tmp_path, document):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    texts = tiny_documents()
    for number, each in enumerate(texts[:40]):
        (corpus / f"{number:02}.txt").write_text("\n".join([each, f"Line {number} follows.", texts[40 + number]]))
    held_out = written(tmp_path / "held_out", [(corpus / "03.txt").read_text(), texts[5]], ("a.txt",))
    (held_out / "b.txt").write_text(texts[7] if document == "line" else (corpus / "07.txt").read_text())
    options = {"document": document, "validation_sources": [str(held_out)]}
    vectors = vectors_of(recipe_of(corpus, {"init": "cipher"}, **options), tmp_path / "prepared")
    tokenizer = text_of(recipe_of(corpus, **options), tmp_path / "prepared") / "tokenizer.json"
    out = {text for path in held_out.iterdir() for text in split_documents(path, document)}
    kept = [text for path in sorted(corpus.iterdir()) for text in split_documents(path, document) if text not in out]
    assert 30 < len(kept) < 120
    file = tmp_path / "kept.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in kept))
    build_options = BuildOptions(tokenizer=str(tokenizer), min_count=1, vector_size=8, spelling_share=0)
    build([str(file)], str(tmp_path / "build"), build_options, InProcessRuntime(), StageProgress())
    loaded, expected = CipherVectors.load(vectors), CipherVectors.load(str(tmp_path / "build"))
    assert loaded.index_to_key == expected.index_to_key
    assert np.array_equal(loaded.vectors, expected.vectors)


def split_documents(path, document):
    return path.read_text().split("\n") if document == "line" else [path.read_text()]


def test_counts_without_held_out_text_cannot_be_updated(corpus, tmp_path):
    vectors_of(recipe_of(corpus, {"init": "cipher"}), tmp_path / "prepared")
    (counts,) = (tmp_path / "prepared").glob("counts-*/build")
    with pytest.raises(BitcipherError, match=r"made with other options \(held_out 'sha256:"):
        update(str(counts), [str(corpus)], UpdateOptions(), 1500, InProcessRuntime(), StageProgress())


def test_given_vectors_have_absolute_path(corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recipe = recipe_of(corpus, {"init": "cipher", "vectors": "books"})
    assert vectors_of(recipe, tmp_path / "prepared") == str(tmp_path / "books")
    assert vectors_of(recipe_of(corpus), tmp_path / "prepared") is None


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        ({"bit": 5}, "no option `embeddings.build.bit`"),
        ({"bits": "many"}, "`embeddings.build.bits` must be an integer"),
        ({"min_count": 2}, "`embeddings.build.min_count` follows"),
        ({"mode": "cat", "window": 4, "bits": 2}, "bits"),  # found after counting: too few for this number of tokens
    ],
)
def test_failed_build_leaves_no_folder(corpus, tmp_path, build, sentence):
    recipe = recipe_of(corpus, {"init": "cipher", "build": build})
    with pytest.raises(BitcipherError, match=sentence):
        vectors_of(recipe, tmp_path / "prepared")
    kinds = sorted(path.name.partition("-")[0] for path in (tmp_path / "prepared").iterdir())
    # Counts are valid with other options of the vectors.
    assert kinds == (["counts", "text"] if build.get("mode") == "cat" else ["text"])
