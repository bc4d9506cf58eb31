"""Recognition of text with wrapped lines."""

import gzip
import textwrap

import numpy as np
import pytest

from pipelines.ingest.read_options import ReadOptions
from pipelines.ingest.sources import list_sources
from pipelines.ingest.wrapped_lines import find_wrapped, has_wrapped_lines

random = np.random.default_rng(5)
WORDS = ["the", "of", "house", "gentlemanlike", "a", "walked", "slowly", "window", "unfortunately", "in"]
PARAGRAPHS = [" ".join(random.choice(WORDS, size)) for size in random.integers(5, 200, 60)]
SENTENCES = [" ".join(random.choice(WORDS, size)) for size in random.integers(2, 30, 600)]
VERSES = [" ".join(random.choice(WORDS, size)) for size in random.integers(4, 9, 600)]


@pytest.mark.parametrize("width", [55, 72, 100])
@pytest.mark.parametrize("blank", ["\n\n", "\r\n\r\n", "\n  \n"])
def test_wrapped_paragraphs(width, blank):
    wrapped = blank.join(textwrap.fill(paragraph, width) for paragraph in PARAGRAPHS)
    assert has_wrapped_lines(wrapped.replace("\n", blank[: blank.index("\n") + 1]))


def stanzas(lines):
    return "\n\n".join("\n".join(lines[at : at + 12]) for at in range(0, len(lines), 12))


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(PARAGRAPHS),
        "\n\n".join(PARAGRAPHS),
        "\n".join(SENTENCES),
        stanzas(SENTENCES),
        stanzas(VERSES),
        stanzas(WORDS * 50),
        textwrap.fill(PARAGRAPHS[-1], 70),
        "",
    ],
)
def test_other_texts(text):
    assert not has_wrapped_lines(text)


def test_files_with_wrapped_lines(tmp_path):
    wrapped = "\n\n".join(textwrap.fill(paragraph, 70) for paragraph in PARAGRAPHS * 40).encode()
    (tmp_path / "a.txt").write_text("\n".join(SENTENCES))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(wrapped))
    (tmp_path / "c.txt").touch()
    (tmp_path / "d.jsonl").write_bytes(wrapped)
    sources = list_sources([str(tmp_path)])
    found = find_wrapped(sources, ReadOptions())
    assert found is not None
    assert found.uri.endswith("/b.txt.gz")
    assert find_wrapped(sources, ReadOptions(document="file")) is None
    assert find_wrapped([source for source in sources if "b.txt" not in source.uri], ReadOptions()) is None
