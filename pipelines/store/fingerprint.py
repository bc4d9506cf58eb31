"""Fingerprint of counts: two jobs may add to the same counts only if their fingerprints are equal."""

from importlib.metadata import version

from bitcipher.errors import BitcipherError
from pipelines.ingest.content_hash import sha256
from pipelines.options import BuildOptions

# Increase this if readers, document chunks, tokenizers or counting change the counts of the same text. A test holds
# digests of the counts.
COUNTS_VERSION = 1

# Options that determine the counts. The others affect what is made from them, or how work is split.
COUNTED = ("format", "document", "field", "tokenizer", "lowercase", "window", "summed")

Fingerprint = dict[str, str | int | float | bool | None]


def fingerprint(options: BuildOptions) -> Fingerprint:
    """Return everything that determines the counts of a text: options, file contents and library versions."""
    values = options.to_dict()
    found: Fingerprint = {name: values[name] for name in COUNTED}
    found["counts_version"] = COUNTS_VERSION
    if options.tokenizer.startswith("spacy"):
        found["spacy"] = version("spacy")
    elif options.tokenizer.endswith(".json"):
        found["tokenizers"] = version("tokenizers")
        found["tokenizer"] = f"sha256:{sha256(options.tokenizer)}"
    return found


def check_same(recorded: Fingerprint, current: Fingerprint, owner: str, advice: str) -> None:
    """Check that two fingerprints are equal.

    Args:
        recorded: fingerprint that was stored.
        current: fingerprint of this run.
        owner: what the stored one belongs to; the error message begins with it.
        advice: what to do; the error message ends with it.

    Raises:
        BitcipherError: if they differ. The message names the fields.
    """
    differing = [name for name in {**recorded, **current} if recorded.get(name) != current.get(name)]
    if differing:
        fields = ", ".join(f"{name} {recorded.get(name)!r} → {current.get(name)!r}" for name in differing)
        raise BitcipherError(f"{owner} was made with other options ({fields}): {advice}.")
