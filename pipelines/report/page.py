"""The page itself: one file of HTML that holds its styles, its scripts, plotly's among them, and all its data."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from plotly.offline import get_plotlyjs

from bitcipher import storage
from bitcipher.vectors import CipherVectors
from pipelines import folder
from pipelines.report.figure import Group, figure, legend
from pipelines.report.map import make_map

NEIGHBOURS = 8


@dataclass(frozen=True)
class Map:
    """What the page shows of one table's map."""

    table: str
    size: int
    groups: list[Group]
    figure: dict[str, Any]


def write(
    target: str,
    title: str,
    about: str,
    build: str,
    tables: Mapping[str, CipherVectors],
    words: Sequence[str],
    seconds: Mapping[str, float],
) -> None:
    """See `pipelines.report.write_report`."""
    manifest = folder.read_manifest(build)
    start = time.perf_counter()
    maps = [_map(name, vectors) for name, vectors in tables.items()]
    seconds = {**seconds, "maps": time.perf_counter() - start}
    content = render(
        title=title,
        about=about,
        numbers={
            "documents": f"{manifest['documents']:,}",
            "tokens": f"{manifest['tokens']:,}",
            "words": f"{manifest['vocabulary']:,}",
            "text": f"{manifest['text_bytes'] / 1e6:,.1f} MB",
        },
        tables={name: vectors.vector_size for name, vectors in tables.items()},
        neighbours={word: _neighbours(word, tables) for word in words},
        maps=maps,
        seconds=seconds,
    )
    with storage.writing(target) as stream:
        stream.write(content.encode(errors="replace"))


def render(**values: Any) -> str:
    """The template with its values, each escaped for where it stands."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(plotlyjs=get_plotlyjs(), **values)


def _neighbours(word: str, tables: Mapping[str, CipherVectors]) -> dict[str, list[tuple[str, float]]]:
    return {name: vectors.most_similar(word, topn=NEIGHBOURS) for name, vectors in tables.items() if word in vectors}


def _map(table: str, vectors: CipherVectors) -> Map:
    word_map = make_map(vectors)
    return Map(table, len(word_map.words), legend(word_map), figure(word_map))
