"""What each comparison needs beside bitcipher and --data, and whether it is there."""

import argparse
from importlib.util import find_spec

OPTIONS = {
    "glove": "--glove PATH, the folder of GloVe's programs vocab_count and cooccur",
    "datatrove": (
        "--datatrove PATH, the Python of an environment with datatrove[processing,io], spacy and lxml_html_clean"
    ),
    "web": "--web PATH, folders with pages and texts",
}

NEEDED_OPTIONS = {
    "pairs": ("glove",),
    "clean": ("datatrove",),
    "duplicates": ("datatrove",),
    "shard": ("datatrove", "web"),
    "shard-workers": ("web",),
}

NEEDED_PACKAGES = {
    "tokens": ("spacy",),
    "product": ("scipy",),
    "build": ("gensim",),
    "ray": ("ray",),
    "training": ("torch", "transformers", "accelerate"),
    "shard-workers": ("ray",),
}


def missing_peer(name: str, options: argparse.Namespace) -> str:
    """Return what a comparison needs and lacks, or an empty string."""
    missing = [OPTIONS[option] for option in NEEDED_OPTIONS.get(name, ()) if not getattr(options, option)]
    missing += [f"the package {each}" for each in NEEDED_PACKAGES.get(name, ()) if find_spec(each) is None]
    return "; ".join(missing)
