import numpy as np
import pytest
from tiny_encoders import KINDS, encoder

from bitcipher.errors import BitcipherError

every_kind = pytest.mark.parametrize("kind", KINDS)


def text_of(text: str, span: np.ndarray) -> str:
    return text[span[0] : span[1]]


@every_kind
def test_offsets_cover_all_letters_without_white_space(kind):
    text = "  the  cat\u00a0sat\n\tover القط .  "
    (pieces,) = encoder(kind).pieces([text])
    shown = [text_of(text, span) for span in pieces.offsets]
    assert all(piece == piece.strip() for piece in shown)
    covered = {i for start, end in pieces.offsets for i in range(start, end)}
    assert covered == {i for i, letter in enumerate(text) if not letter.isspace()}


@every_kind
def test_offsets_include_accents_after_letter(kind):
    text = "cafe\u0301 مُحَمَّدٌ z\u0307"
    (pieces,) = encoder(kind).pieces([text])
    ends = pieces.offsets[:, 1].tolist()
    assert {text.index(" "), text.rindex(" "), len(text)} <= set(ends)


def test_offsets_exclude_dropped_direction_marks():
    text = "القط\u200f cat"
    (pieces,) = encoder("wordpiece").pieces([text])
    assert 4 in pieces.offsets[:, 1]


@every_kind
def test_names_of_special_tokens_are_encoded_as_text(kind):
    made = encoder(kind)
    (pieces,) = made.pieces(["the </s> cat <mask>"])
    assert not {made.specials.end, made.specials.mask} & set(pieces.ids.tolist())


def test_truncation_of_tokenizer_is_ignored_and_unchanged():
    made = encoder()
    made.tokenizer.enable_truncation(2)
    try:
        (pieces,) = encoder().pieces(["the cat sat on the mat"])
        assert len(pieces.ids) > 6
        assert made.tokenizer.truncation["max_length"] == 2
    finally:
        made.tokenizer.no_truncation()


def test_rows_of_pairs_match_bert_and_roberta():
    first, second = np.array([50, 51]), np.array([60])
    bert = encoder(length=8, token_types=True)
    rows = bert.rows([(first, second), (second, first)])
    pad, begin, end = bert.specials.pad, bert.specials.begin, bert.specials.end
    assert rows["input_ids"].tolist() == [
        [begin, 50, 51, end, 60, end, pad, pad],
        [begin, 60, end, 50, 51, end, pad, pad],
    ]
    assert rows["attention_mask"].tolist() == [[1] * 6 + [0] * 2] * 2
    assert rows["token_type_ids"].tolist() == [[0, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1, 0, 0]]

    roberta = encoder(length=8, double_end=True).rows([(first, second)])
    assert roberta["input_ids"].tolist() == [[begin, 50, 51, end, end, 60, end, pad]]
    assert "token_type_ids" not in roberta


def test_rows_of_single_texts():
    made = encoder(length=4, double_end=True, token_types=True)
    rows = made.rows([(np.array([50]), None), (np.array([], np.int32), None)])
    begin, end, pad = made.specials.begin, made.specials.end, made.specials.pad
    assert rows["input_ids"].tolist() == [[begin, 50, end, pad], [begin, end, pad, pad]]
    assert not rows["token_type_ids"].any()


def test_too_short_length_raises():
    assert encoder(length=5).room(pair=True) == 2
    assert encoder(length=3).room(pair=False) == 1
    for made in (encoder(length=4), encoder(length=5, double_end=True)):
        with pytest.raises(BitcipherError, match="no room"):
            made.room(pair=True)
