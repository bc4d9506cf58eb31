"""Arabic text passes every stage unharmed: readers, cleaning, counts, vectors, exports, pages, training and generation.

Other tests compare Arabic answers (`training/tasks`), its segmentation (`training/data`), and pages in a browser.
"""

import gzip
import json
import unicodedata
from collections import Counter
from itertools import chain

import gensim
import numpy as np
import pyarrow as pa
import pytest
import spacy
from builds import run_build
from html_pages import Parsed
from pyarrow import parquet
from tiny_prepared import recipe_of, text_of, vectors_of

from bitcipher.formats.writer import write
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.clean.document import Document
from pipelines.clean.unicode_repair import UnicodeRule
from pipelines.ingest.documents import read_documents
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import list_sources
from pipelines.options import BuildOptions
from pipelines.reports.explore.page import write_page
from pipelines.tokenizers.tokenizer_json import load_tokenizer, vocab_size
from training.data.special_tokens import special_tokens
from training.data.token_streams import TokenDataset
from training.evaluation.decoding.generation import generate
from training.evaluation.decoding.options import DecodingOptions
from training.models.build import build_model
from training.models.embeddings.embedding_table import token_embeddings

# Plain and vocalized words, tatweel, Arabic digits and punctuation, and Latin words.
SENTENCES = (
    "ذهب الولد إلى المدرسة، وقرأ كتابها القديم.",
    "قَالَ مُحَمَّدٌ: «هٰذا كِتَابٌ» في سنة ٢٠١٧؟",
    "العــربية لغة جميلة؛ والكتاب بالمدرسة!",
    "كتب Ibn Sina عن القلب و100 كتاب للطب",
    "المدينة المُنوّرة مدينة آمنة أُسِّست قبل الإسلام",
)
TEXTS = [
    f"{first} {other} {third}" for first in SENTENCES for other in SENTENCES for third in SENTENCES if first != third
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arabic") / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text("\n".join(TEXTS), "utf-8")
    return folder


@pytest.fixture(scope="module")
def build(corpus, tmp_path_factory):
    target = tmp_path_factory.mktemp("built") / "build"
    run_build([corpus], target, BuildOptions(min_count=1, vector_size=12, shard_mib=1, memory_mib=600))
    return str(target)


@pytest.fixture(scope="module")
def vectors(build):
    return CipherVectors.load(build)


def lines_of(texts):
    return "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts).encode()


@pytest.mark.parametrize("name", ["utf-8.txt", "utf-16.txt", "signed.txt.gz", "a.jsonl", "escaped.json.gz"])
def test_readers(tmp_path, name):
    text = "\n".join(TEXTS)
    content = {
        "utf-8.txt": text.encode(),
        "utf-16.txt": text.encode("utf-16"),
        "signed.txt.gz": gzip.compress(text.encode("utf-8-sig")),
        "a.jsonl": lines_of(TEXTS),
        "escaped.json.gz": gzip.compress("".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()),
    }
    (tmp_path / name).write_bytes(content[name])
    (source,) = list_sources([str(tmp_path)])
    assert list(read_documents(source, ReadOptions())) == TEXTS


def test_readers_of_tables_and_of_windows_1256(tmp_path):
    parquet.write_table(pa.table({"text": TEXTS}), tmp_path / "a.parquet")
    (source,) = list_sources([str(tmp_path)])
    assert list(read_documents(source, ReadOptions())) == TEXTS
    # Windows-1256 has no Arabic digits and no small alef.
    old = [text.replace("٢٠١٧", "2017").replace("\u0670", "") for text in TEXTS]
    (tmp_path / "a.parquet").unlink()
    (tmp_path / "a.txt").write_bytes("\n".join(old).encode("cp1256"))
    (source,) = list_sources([str(tmp_path)])
    assert list(read_documents(source, ReadOptions())) == old
    assert list(read_documents(source, ReadOptions(encoding="cp1256"))) == old


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_unicode_repair_only_normalizes(form):
    for text in SENTENCES:
        assert UnicodeRule(form=form).apply(Document(text)).text == unicodedata.normalize(form, text)


@pytest.mark.parametrize("tokenizer", ["spacy", "spacy-exact", "whitespace"])
def test_counts(corpus, tmp_path, tokenizer):
    target = tmp_path / "build"
    options = BuildOptions(tokenizer=tokenizer, min_count=1, vector_size=8, shard_mib=1, memory_mib=600)
    run_build([corpus], target, options)
    nlp = spacy.blank("en")
    split = str.split if tokenizer == "whitespace" else lambda text: [token.text for token in nlp.tokenizer(text)]
    expected = Counter(token.lower() for token in chain.from_iterable(map(split, TEXTS)) if not token.isspace())
    found = CipherVectors.load(str(target))
    counts = dict(zip(found.index_to_key, found.counts.tolist(), strict=True))
    assert {word: count for word, count in counts.items() if count} == dict(expected)
    assert {"العــربية", "المُنوّرة", "كتابها"} <= counts.keys()
    if tokenizer != "whitespace":
        assert {"،", "؛", "؟", "«", "»", "٢٠١٧", "مُحَمَّدٌ", "ibn"} <= counts.keys()


def test_neighbors(vectors):
    for word in ("كتابها", "مُحَمَّدٌ", "العــربية"):
        neighbors = vectors.most_similar(word, topn=5)
        assert word not in dict(neighbors)
        assert all(other in vectors for other, _ in neighbors)


@pytest.mark.parametrize("format", ["word2vec", "word2vec-binary", "glove", "fasttext", "parquet", "numpy"])
def test_exports_are_read_back(vectors, tmp_path, format):
    write(vectors, format, str(tmp_path / "exported"))
    back = CipherVectors.load(str(tmp_path / "exported"), format=format)
    assert back.index_to_key == vectors.index_to_key
    np.testing.assert_allclose(back.vectors, vectors.vectors, rtol=1e-6)


@pytest.mark.parametrize(("format", "binary"), [("word2vec", False), ("word2vec-binary", True)])
def test_gensim_opens_exports(vectors, tmp_path, format, binary):
    write(vectors, format, str(tmp_path / "exported"))
    opened = gensim.models.KeyedVectors.load_word2vec_format(str(tmp_path / "exported"), binary=binary)
    assert opened.index_to_key == vectors.index_to_key
    assert [word for word, _ in opened.most_similar("مُحَمَّدٌ", topn=3)] == [
        word for word, _ in vectors.most_similar("مُحَمَّدٌ", topn=3)
    ]


def test_page_is_read_from_right_to_left(vectors, tmp_path):
    write_page(str(tmp_path / "page.html"), "كتب", vectors, 1_000)
    parsed = Parsed((tmp_path / "page.html").read_text("utf-8"))
    (data,) = parsed.data()
    assert data["map"]["direction"] == "rtl"
    assert {"مُحَمَّدٌ", "العــربية", "كتابها"} <= set(data["map"]["words"])
    (search,) = [each for each in parsed.attributes("input") if each["id"] == "search"]
    assert search["dir"] == "auto"
    assert "كتب" in parsed.texts["bdi"]


TOKENIZERS = {
    "bpe": {"kind": "bpe", "vocab_size": 400},
    "wordpiece": {"kind": "wordpiece", "vocab_size": 200},
    "unigram": {"kind": "unigram", "vocab_size": 120},
    "segmented": {"kind": "unigram", "vocab_size": 140, "segmentation": "arabic"},
}


def plain(text, kind):
    """Return a text as a tokenizer of a kind restores it."""
    if kind == "wordpiece":  # it separates punctuation
        return text.replace(" ", "")
    return text if kind == "bpe" else " ".join(unicodedata.normalize("NFKC", text).split())


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_training_text_and_vectors_of_tokens(corpus, tmp_path, kind):
    recipe = recipe_of(corpus, {"init": "cipher"}, tokenizer=TOKENIZERS[kind])
    text = TokenDataset.open(str(text_of(recipe, tmp_path / "prepared")))
    restored = []
    for stream in (text.train, text.validation):
        starts = np.concatenate([[0], stream.ends[:-1]])
        for start, end in zip(starts.tolist(), stream.ends.tolist(), strict=True):
            restored.append(text.tokenizer.decode(stream.read(np.array([start]), end - start - 1)[0].tolist()))
    assert sorted(plain(each, kind) for each in restored) == sorted(plain(each, kind) for each in TEXTS)
    table = token_embeddings(CipherVectors.load(vectors_of(recipe, tmp_path / "prepared")), text.tokenizer)
    assert table.counts.sum() == len(text.train) - text.train.n_documents
    assert set(np.flatnonzero(table.counts)) <= set(np.flatnonzero(table.has_vector))
    stored = load_tokenizer(str(text_of(recipe, tmp_path / "prepared") / "tokenizer.json"))
    assert plain(stored.decode(stored.encode(SENTENCES[1]).ids), kind) == plain(SENTENCES[1], kind)


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_generated_text_continues_prompt(corpus, tmp_path, kind):
    recipe = recipe_of(corpus, model={"max_position_embeddings": 64}, tokenizer=TOKENIZERS[kind])
    tokenizer = TokenDataset.open(str(text_of(recipe, tmp_path / "prepared"))).tokenizer
    model = build_model(recipe.model, special_tokens(tokenizer), vocab_size(tokenizer), seed=1)
    prompt = "والكتاب في المدرسة"
    (text,) = generate(model, tokenizer, [prompt], DecodingOptions(max_new_tokens=16, temperature=5.0))
    assert text
    assert "＋" not in text
    # Byte-level BPE can generate any bytes.
    assert kind == "bpe" or set(prompt + text) - {"\ufffd"} <= set(
        "".join(TEXTS) + unicodedata.normalize("NFKC", "".join(TEXTS))
    )
