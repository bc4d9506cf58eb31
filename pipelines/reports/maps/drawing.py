"""HTML rendering of map pages: packed arrays, colors, templates, scripts and styles."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.reports.maps.layout import WordMap
from pipelines.reports.pages.rendering import render_page
from pipelines.reports.pages.text_direction import text_direction

# Group colors that are distinguishable on white and on black.
COLORS = (
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

# The name of a group has WORDS_IN_NAME words: of its NAME_CANDIDATES most frequent words, those that lie furthest in
# the direction from the center of all words to that of the group. Words near the center of all could name any group.
WORDS_IN_NAME = 3
NAME_CANDIDATES = 200

# Fractions from -1 to 1 are multiplied by this number and stored as int16.
FRACTION_SCALE = np.iinfo(np.int16).max

# Integer types for packed arrays, smallest first.
INTEGERS = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32)

# Sorted by dependency: a script uses only the scripts that precede it.
SCRIPTS = ("d3.min.js", "arrays.js", "labels.js", "map.js")


def pack(array: np.ndarray) -> dict[str, str]:
    """Return an array in the JSON format that `arrays.js` reads: its type, and its little-endian values in base64.

    64-bit integers are converted to the smallest type of at most 32 bits that fits all values.
    """
    if array.dtype == np.int64:
        least, largest = min(array.min(initial=0), 0), array.max(initial=0)
        array = array.astype(
            next(each for each in INTEGERS if np.iinfo(each).min <= least and largest <= np.iinfo(each).max)
        )
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return {"type": array.dtype.name, "base64": base64.b64encode(little.tobytes()).decode()}


def pack_fractions(array: np.ndarray) -> dict[str, str]:
    """Return fractions from -1 to 1 packed as int16."""
    return pack(np.rint(np.clip(array, -1, 1) * FRACTION_SCALE).astype(np.int16))


def map_data(words: Sequence[str], word_map: WordMap) -> dict[str, Any]:
    """Return the data of `map.js`: words and their direction, positions, group numbers, names and colors of groups."""
    groups = []
    for number, color in zip(range(word_map.groups.max() + 1), COLORS, strict=False):
        members = np.flatnonzero(word_map.groups == number)
        groups.append({"words": _group_name(words, word_map, members), "color": color, "size": len(members)})
    return {
        "words": list(words),
        "direction": text_direction(words),
        "x": pack_fractions(word_map.positions[:, 0]),
        "y": pack_fractions(word_map.positions[:, 1]),
        "group": pack(word_map.groups),
        "groups": groups,
    }


def _group_name(words: Sequence[str], word_map: WordMap, members: np.ndarray) -> list[str]:
    """Return the words that name a group: words of letters, if the group has such words."""
    direction = word_map.units[members].mean(axis=0) - word_map.units.mean(axis=0)
    frequent: list[int] = members[:NAME_CANDIDATES].tolist()
    letters = [member for member in frequent if words[member].isalpha()]
    nearest = sorted(
        letters or frequent, key=lambda member: -float(np.einsum("i,i", word_map.units[member], direction))
    )
    return [words[member] for member in nearest[:WORDS_IN_NAME]]


def render(template: Path, scripts: Sequence[Path], styles: Sequence[Path], **values: Any) -> bytes:
    """Return an HTML page with maps. Scripts and styles are added after those of the maps (see `render_page`)."""
    here = Path(__file__).parent
    return render_page(
        template, [*(here / name for name in SCRIPTS), *scripts], [here / "map.css", *styles], [here], **values
    )
