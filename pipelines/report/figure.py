"""A map of words as a figure of plotly: plain values that go into the page as JSON."""

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from pipelines.report.map import WordMap

# Told apart on white and on black.
COLOURS = (
    "#4e79a7",
    "#f28e2b",
    "#e15759",
    "#59a14f",
    "#b07aa1",
    "#3fa7a0",
    "#d4a72c",
    "#ff7f9f",
    "#9c755f",
    "#8f96a3",
    "#2f8fd0",
    "#8db33a",
)

# A group goes by its most frequent words.
WORDS_IN_NAME = 3

# Of the places, so that words at the rim can be read.
RANGE = [-1.08, 1.08]

# Room for the buttons above the map, in pixels.
TOP_MARGIN = 36


@dataclass(frozen=True)
class Group:
    """An entry of the legend: words of one colour."""

    name: str
    colour: str
    size: int


def legend(word_map: WordMap) -> list[Group]:
    """The groups, the one of the most frequent word first."""
    groups = []
    for number, members in enumerate(_members(word_map)):
        name = ", ".join(word_map.words[row] for row in members[:WORDS_IN_NAME])
        groups.append(Group(name, COLOURS[number], len(members)))
    return groups


def figure(word_map: WordMap) -> dict[str, Any]:
    """Traces, one a group, and layout. The page's script chooses which words are written out.

    plotly shows texts as HTML of its own kind, so words are escaped here, whatever the page does with the JSON.
    """
    return {
        "data": [_trace(word_map, rows, colour) for rows, colour in zip(_members(word_map), COLOURS, strict=False)],
        "layout": {
            "xaxis": {"visible": False, "range": RANGE},
            "yaxis": {"visible": False, "range": RANGE},
            "margin": {"l": 0, "r": 0, "t": TOP_MARGIN, "b": 0},
            "showlegend": False,
            "hovermode": "closest",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": "system-ui, sans-serif", "size": 12},
        },
    }


def _members(word_map: WordMap) -> list[np.ndarray]:
    return [np.flatnonzero(word_map.groups == number) for number in range(word_map.groups.max() + 1)]


def _trace(word_map: WordMap, rows: np.ndarray, colour: str) -> dict[str, Any]:
    words = [escape(word_map.words[row]) for row in rows]
    hover = [f"<b>{word}</b>" for word in words]
    if word_map.counts is not None:
        hover = [f"{text}<br>{word_map.counts[row]:,} times" for text, row in zip(hover, rows, strict=True)]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": word_map.places[rows, 0].round(4).tolist(),
        "y": word_map.places[rows, 1].round(4).tolist(),
        "marker": {"color": colour, "size": 5, "opacity": 0.8},
        "text": [""] * len(rows),
        "textposition": "top center",
        "hovertext": hover,
        "hoverinfo": "text",
        # Rank and word, for the script that writes words out.
        "customdata": [[int(row), word] for row, word in zip(rows, words, strict=True)],
    }
