"""The table that notebooks show of vectors."""

import xml.etree.ElementTree as ElementTree

from bitcipher.vectors.cipher_vectors import CipherVectors


def cells(vectors: CipherVectors) -> list[list[str | None]]:
    page = ElementTree.fromstring(f"<div>{vectors._repr_html_()}</div>")
    return [[cell.text for cell in row] for row in page.iter("tr")]


def test_first_words_are_shown_with_their_counts():
    vectors = CipherVectors(["the", "cat"], [[3, 4], [0, 1]], [9000, 5])
    assert cells(vectors) == [["word", "count", "length"], ["the", "9,000", "5"], ["cat", "5", "1"]]
    assert "2 words, 2 dimensions" in vectors._repr_html_()


def test_words_are_text_and_the_table_is_short():
    words = ["<script>alert('a')</script>", "&amp;", *(f"w{number}" for number in range(100))]
    shown = cells(CipherVectors(words, [[1.0]] * len(words)))
    assert [row[0] for row in shown[1:3]] == words[:2]
    assert len(shown) == 6
