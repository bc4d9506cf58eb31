"""What a page needs to draw maps: scripts, colors, and arrays that fit into a page."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from pipelines.reports.maps.layout import WordMap

# Of groups, told apart on white and on black.
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

# A group goes by those of its more frequent words that are nearest to its middle.
WORDS_IN_NAME = 3
NAMED_AMONG = 200

# The whole numbers that fractions from -1 to 1 are kept as: steps of 0.00003.
FULL = np.iinfo(np.int16).max

# What arrays of whole numbers are kept as, the smallest first.
WHOLE = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32)

# In this order: each needs what stands before it.
SCRIPTS = ("d3.min.js", "arrays.js", "labels.js", "map.js")


def pack(array: np.ndarray) -> dict[str, str]:
    """An array as JSON can hold it: base64 of its numbers, little-endian; `arrays.js` reads it.

    Whole numbers of 64 bits take the fewest bytes that hold them all; they may need 32 bits.
    """
    if array.dtype == np.int64:
        least, largest = min(array.min(initial=0), 0), array.max(initial=0)
        array = array.astype(
            next(each for each in WHOLE if np.iinfo(each).min <= least and largest <= np.iinfo(each).max)
        )
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return {"type": array.dtype.name, "base64": base64.b64encode(little.tobytes()).decode()}


def pack_fractions(array: np.ndarray) -> dict[str, str]:
    """Numbers from -1 to 1 as `pack` gives them, in two bytes each."""
    return pack(np.rint(np.clip(array, -1, 1) * FULL).astype(np.int16))


def map_data(words: Sequence[str], word_map: WordMap) -> dict[str, Any]:
    """What `map.js` draws of a map: words, their places and groups, and the groups' names and colors."""
    groups = []
    for number, color in zip(range(word_map.groups.max() + 1), COLOURS, strict=False):
        members = np.flatnonzero(word_map.groups == number)
        groups.append({"words": _typical(words, word_map, members), "color": color, "size": len(members)})
    return {
        "words": list(words),
        "x": pack_fractions(word_map.places[:, 0]),
        "y": pack_fractions(word_map.places[:, 1]),
        "group": pack(word_map.groups),
        "groups": groups,
    }


def _typical(words: Sequence[str], word_map: WordMap, members: np.ndarray) -> list[str]:
    middle = word_map.units[members].mean(axis=0)
    frequent = members[:NAMED_AMONG]
    letters = [member for member in frequent if words[member].isalpha()]
    nearest = sorted(letters or frequent, key=lambda member: -float(np.einsum("i,i", word_map.units[member], middle)))
    return [words[member] for member in nearest[:WORDS_IN_NAME]]


def render(template: Path, scripts: Sequence[Path], styles: Sequence[Path], **values: Any) -> bytes:
    """A page of HTML that holds its scripts and styles, each named in its policy by its digest.

    So a browser runs these scripts and no other, fetches nothing, and whatever a word may hold stays text.

    Args:
        template: of jinja2, whose values are escaped for where they stand.
        scripts: of the page, after those of the maps.
        styles: likewise.
        values: what else the template takes.
    """
    here = Path(__file__).parent
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, here]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    scripts = [path.read_text("utf-8") for path in [*(here / name for name in SCRIPTS), *scripts]]
    styles = [path.read_text("utf-8") for path in [here / "map.css", *styles]]
    policy = f"default-src 'none'; img-src data:; script-src {_digests(scripts)}; style-src {_digests(styles)}"
    page = environment.get_template(template.name).render(scripts=scripts, styles=styles, policy=policy, **values)
    return page.encode(errors="replace")


def _digests(texts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
