"""HTML rendering of map pages: packed arrays, colors, templates, scripts and styles."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from pipelines.reports.maps.layout import WordMap

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

# The name of a group has WORDS_IN_NAME words: of its NAME_CANDIDATES most frequent words, those nearest to its center.
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
    """Return the data of `map.js`: words, positions, group numbers, and the name and color of each group."""
    groups = []
    for number, color in zip(range(word_map.groups.max() + 1), COLORS, strict=False):
        members = np.flatnonzero(word_map.groups == number)
        groups.append({"words": _group_name(words, word_map, members), "color": color, "size": len(members)})
    return {
        "words": list(words),
        "x": pack_fractions(word_map.positions[:, 0]),
        "y": pack_fractions(word_map.positions[:, 1]),
        "group": pack(word_map.groups),
        "groups": groups,
    }


def _group_name(words: Sequence[str], word_map: WordMap, members: np.ndarray) -> list[str]:
    """Return the words that name a group: words of letters, if the group has such words."""
    middle = word_map.units[members].mean(axis=0)
    frequent: list[int] = members[:NAME_CANDIDATES].tolist()
    letters = [member for member in frequent if words[member].isalpha()]
    nearest = sorted(letters or frequent, key=lambda member: -float(np.einsum("i,i", word_map.units[member], middle)))
    return [words[member] for member in nearest[:WORDS_IN_NAME]]


def render(template: Path, scripts: Sequence[Path], styles: Sequence[Path], **values: Any) -> bytes:
    """Return an HTML page with inline scripts and styles.

    The Content-Security-Policy of the page lists the SHA-256 digest of each script and style. A browser runs only the
    listed scripts, and loads no other files.

    Args:
        template: path of the jinja2 template. Autoescaping is on.
        scripts: paths of the page's scripts, added after those of the maps.
        styles: paths of the page's styles, added after those of the maps.
        values: other variables of the template.
    """
    here = Path(__file__).parent
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, here]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    codes = [path.read_text("utf-8") for path in [*(here / name for name in SCRIPTS), *scripts]]
    sheets = [path.read_text("utf-8") for path in [here / "map.css", *styles]]
    policy = f"default-src 'none'; img-src data:; script-src {_digests(codes)}; style-src {_digests(sheets)}"
    page = environment.get_template(template.name).render(scripts=codes, styles=sheets, policy=policy, **values)
    return page.encode(errors="replace")


def _digests(texts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
