"""Vectors of the default options, which include the spelling: updates, rotations, and texts without n-grams."""

import numpy as np
import pytest
from builds import OPTIONS, run_build, run_update, write_lines
from made_vectors import merge_counts
from scipy.stats import ortho_group

from bitcipher.counts.context_window import ContextWindow
from bitcipher.embedding.spectral.spectral_embedding import SpectralEmbedding
from bitcipher.stored_build import open_build
from bitcipher.vectors.cipher_vectors import CipherVectors
from bitcipher.vocabulary import OOV
from pipelines.embed.embed_counts import embed
from pipelines.embed.spectral_vectors import rotate_to
from pipelines.options import BuildOptions, EmbeddingOptions

ENDINGS = ("s", "ed", "ing", "er")
STEMS = ("walk", "talk", "paint", "jump", "laugh", "play", "help", "work")


def text_of_inflections(documents: int = 80) -> list[list[str]]:
    """Return documents of words that have a stem and an ending in common with others, and contexts of their own."""
    draw = np.random.default_rng(3)
    words = np.array([[stem + ending for ending in ENDINGS] for stem in STEMS])
    contexts = np.array([[f"{kind}{number}" for number in range(8)] for kind in ("of", "at", "in", "by")])
    return [
        [
            token
            for stem, ending, number in zip(*(draw.integers(0, limit, 30) for limit in (8, 4, 8)), strict=True)
            for token in (contexts[ending, number], words[stem, ending], contexts[stem % 4, stem])
        ]
        for _ in range(documents)
    ]


def test_rotated_contexts_are_those_of_the_earlier_vectors():
    counts = merge_counts(text_of_inflections(), ContextWindow(2))
    options = EmbeddingOptions(window=2, vector_size=12)
    earlier = embed(counts, options, {})
    assert earlier.spelling is not None
    fresh = SpectralEmbedding(12).table(counts, 2)
    turned = rotate_to(fresh.rotate(ortho_group.rvs(12, random_state=1)), counts.vocabulary, earlier)
    np.testing.assert_allclose(turned.table, fresh.table, atol=1e-4 * np.abs(fresh.table).max())


def test_spelled_vectors_move_as_little_as_their_contexts(documents, tmp_path):
    old, new = (
        write_lines(tmp_path / f"{name}.jsonl", part)
        for name, part in (("old", documents[:100]), ("new", documents[100:110]))
    )
    moves = []
    for share in (0, EmbeddingOptions().spelling_share):
        build = tmp_path / str(share)
        run_build([old], build, OPTIONS.derive({"spelling_share": share}))
        manifest, _ = run_update(build, [old, new], basis="keep")
        moves.append(manifest["drift"]["vector_moves"])
    contexts, spelled = moves
    assert spelled["median"] >= contexts["median"] - 0.01
    assert spelled["percentile_1"] >= contexts["percentile_1"] - 0.05


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "texts",
    [
        ["a b a b c"],
        ["القط رأى الكلب", "الكلب رأى قطا و طائرا", "كتاب كتب كاتب مكتوب"],
        ["我 爱 北京 天安门", "北京 是 中国 的 首都"],
    ],
    ids=["one letter", "Arabic", "Chinese"],
)
def test_texts_without_common_ngrams_have_vectors_of_contexts(texts, tmp_path):
    source = write_lines(tmp_path / "t.jsonl", texts * 3)
    options = BuildOptions(tokenizer="whitespace", min_count=1, memory_mib=600)
    run_build([source], tmp_path / "spelled", options)
    run_build([source], tmp_path / "contexts", options.derive({"spelling_share": 0}))
    contexts = CipherVectors.load(tmp_path / "contexts")
    build = open_build(tmp_path / "spelled")
    spelled, counts = build.vectors, build.counts_of_vectors
    np.testing.assert_allclose(spelled.vectors, contexts.vectors, atol=1e-6)
    assert not spelled.get_vector("unheard", oov="spelling").any()
    assert spelled.most_similar("unheard", oov="spelling") == []
    assert contexts.spelling is None
    explanation = spelled.explain(0, 1, topn=1000, counts=counts)
    assert explanation.ngrams == []
    assert sum(each.weight for each in explanation.contributions) == pytest.approx(explanation.similarity, abs=1e-9)
    word, sentences = spelled.index_to_key[0], [text.split() for text in texts * 3]
    assert spelled.infer(sentences, word, counts=counts) @ spelled[word] > 0.99


def test_words_of_other_scripts_have_their_ngrams(tmp_path):
    forms = ("كتابة", "كتابات", "كتابنا", "كتابكم", "كتابها", "مدرسة", "مدرسات", "مدرسنا", "مدرسكم", "مدرسها")
    texts = [f"{one} {'في' if one.startswith('كتاب') else 'من'} {other}" for one in forms for other in forms]
    options = BuildOptions(tokenizer="whitespace", min_count=1, memory_mib=600)
    run_build([write_lines(tmp_path / "t.jsonl", texts)], tmp_path / "build", options)
    vectors = CipherVectors.load(tmp_path / "build")
    assert vectors.similarity("كتابك", "كتابكم", oov="spelling") > vectors.similarity("كتابك", "مدرسكم", oov="spelling")
    assert not vectors[OOV].any()
