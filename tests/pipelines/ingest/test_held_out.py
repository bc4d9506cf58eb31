"""Held-out documents: digests, fractions, and reading without them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.ingest.held_out import (
    DIGEST_DTYPE,
    HeldOut,
    KeptDocuments,
    document_digest,
    drop_held_out,
    is_drawn,
)
from pipelines.ingest.quarantine import Quarantine
from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import list_sources

LINES = [f"Line {number} of a text." for number in range(200)]


@given(st.lists(st.text()), st.sets(st.text()))
def test_held_out_documents_are_dropped(documents, held_out):
    digests = np.array(sorted(map(document_digest, held_out)), DIGEST_DTYPE)
    assert list(drop_held_out(documents, digests)) == [text for text in documents if text not in held_out]


def test_a_larger_fraction_has_the_documents_of_a_smaller_one():
    drawn = [{text for text in LINES if is_drawn(text, fraction)} for fraction in (0.0, 0.2, 0.5, 1.0)]
    assert drawn[0] < drawn[1] < drawn[2] < drawn[3] == set(LINES)
    assert 20 < len(drawn[1]) < 60


def test_kept_documents_of_a_source(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join([*LINES, "", "word " * 300_000]))
    digests = tmp_path / "digests"
    np.array(sorted(map(document_digest, LINES[:50])), DIGEST_DTYPE).tofile(digests)
    held_out = HeldOut(str(digests), 0.3)
    (source,) = list_sources([str(tmp_path / "a.txt")])
    chunks = list(KeptDocuments(held_out).read_chunks(source, ReadOptions(), Quarantine(source.uri, 0.0)))
    expected = [text for text in LINES[50:] if not is_drawn(text, 0.3)]
    assert [chunk.text for chunk in chunks[: len(expected)]] == expected
    long = chunks[len(expected) :]
    assert "".join(chunk.text for chunk in long) == "word " * 300_000
    assert [chunk.continues for chunk in long] == [True] * (len(long) - 1) + [False]
    assert held_out.fingerprint() != HeldOut(str(digests), 0.2).fingerprint()
    digests.write_bytes(digests.read_bytes()[8:])
    assert held_out.fingerprint() != HeldOut(str(tmp_path / "a.txt"), 0.3).fingerprint()
