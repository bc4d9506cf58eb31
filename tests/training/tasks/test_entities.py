import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_encoders import KINDS, encoder

from bitcipher.errors import BitcipherError
from training.tasks.base import IGNORED
from training.tasks.entities import EntityTask, read_entities

SENTENCE = (("Peter", "I-PER"), ("Blackburn", "I-PER"), ("of", "O"), ("Germany", "I-LOC"), (".", "O"))
LABELS = ("O", "I-LOC", "I-PER")


def task(*sentences):
    return EntityTask("Mine", LABELS, (), sentences)


def gold_outputs(features):
    labels = features.targets["labels"]
    return {"logits": (labels[:, :, None] == np.arange(len(LABELS))).astype(np.float32)}


@pytest.mark.parametrize("kind", KINDS)
def test_first_token_of_word_has_its_label(kind):
    made = encoder(kind, 48)
    features = task(SENTENCE).features("validation", made)
    (labels,) = features.targets["labels"]
    (pieces,) = made.pieces(["Peter Blackburn of Germany ."])
    assert [LABELS[label] for label in labels[labels != IGNORED]] == [tag for _, tag in SENTENCE]
    assert features.notes["words"][features.notes["words"] >= 0].tolist() == [0, 1, 2, 3, 4]
    begins = pieces.offsets[np.flatnonzero(labels != IGNORED) - 1, 0]
    assert begins.tolist() == [0, 6, 16, 19, 27]
    assert features.inputs["attention_mask"].sum() == len(pieces.ids) + 2


tagged = st.lists(
    st.tuples(
        st.sampled_from(["Peter", "of", "القط", "Zürich", "cafe\u0301", "U.S.", "x", "🙂"]), st.sampled_from(LABELS)
    ),
    min_size=1,
    max_size=20,
).map(tuple)


@pytest.mark.parametrize("kind", KINDS)
@given(sentences=st.lists(tagged, min_size=1, max_size=4), length=st.integers(3, 40))
def test_every_word_of_long_sentences_has_prediction(kind, sentences, length):
    made = task(*sentences)
    features = made.features("validation", encoder(kind, length))
    predictions = made.predictions(features, gold_outputs(features))
    assert predictions == [[tag for _, tag in sentence] for sentence in sentences]
    assert made.score(predictions)["accuracy"] == 100


def test_long_sentence_continues_at_word_boundary():
    made = task(SENTENCE * 5)
    features = made.features("validation", encoder(length=24))
    assert len(features) > 1
    assert set(features.notes["sentences"].tolist()) == {0}
    assert (features.notes["words"][:, 1] >= 0).sum() + (features.notes["words"][:, 2] >= 0).sum() >= len(features)


def test_word_without_token_is_predicted_outside():
    made = task((("Peter", "I-PER"), ("\u200f", "I-PER"), ("ran", "O")))
    features = made.features("validation", encoder("wordpiece"))
    assert made.predictions(features, gold_outputs(features)) == [["I-PER", "O", "O"]]


def test_f1_requires_whole_spans():
    made = task(SENTENCE)
    assert made.score([["I-PER", "I-PER", "O", "I-LOC", "O"]]) == {"f1": 100, "accuracy": 100}
    scores = made.score([["I-PER", "O", "O", "I-LOC", "O"]])
    assert scores == {"f1": pytest.approx(50), "accuracy": pytest.approx(80)}
    assert made.score([["O"] * 5])["f1"] == 0


def test_read_entities(tmp_path):
    (tmp_path / "eng.train").write_text(
        "-DOCSTART- -X- O O\n\nPeter NNP I-NP I-PER\nran VBD I-VP O\n\nBonn N N B-LOC\n"
    )
    (tmp_path / "eng.testa").write_text("Rome NNP I-NP I-LOC\n")
    made = read_entities(str(tmp_path))
    assert made.labels == ("O", "B-LOC", "I-LOC", "I-PER")
    assert made.train == ((("Peter", "I-PER"), ("ran", "O")), (("Bonn", "B-LOC"),))
    assert made.validation == ((("Rome", "I-LOC"),),)
    assert (made.kind, made.main_metric) == ("token-classification", "f1")
    (tmp_path / "eng.testa").write_text("Rome NNP\n")
    with pytest.raises(BitcipherError, match=r"Line 1 of .*eng\.testa has 2 columns"):
        read_entities(str(tmp_path))
