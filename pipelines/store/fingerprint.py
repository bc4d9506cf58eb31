"""What counts depend on: two jobs may add to the same counts only if all of this is equal."""

from importlib.metadata import version
from typing import Any

from bitcipher.errors import BitcipherError
from pipelines.ingest.content_hash import sha256
from pipelines.options import BuildOptions

# To be raised when readers, pieces, tokenizers or counting come to give other counts of the same text: a test knows
# what they gave.
COUNTS_VERSION = 1

# Options that say what is counted. The others say what is made of the counts, or how much is done at once.
COUNTED = ("format", "document", "field", "tokenizer", "lowercase", "window", "summed")


def fingerprint(options: BuildOptions) -> dict[str, Any]:
    """What counts made with these options, here and now, depend on."""
    values = options.to_dict()
    found = {name: values[name] for name in COUNTED}
    found["counts_version"] = COUNTS_VERSION
    if options.tokenizer.startswith("spacy"):
        found["spacy"] = version("spacy")
    elif options.tokenizer.endswith(".json"):
        found["tokenizers"] = version("tokenizers")
        found["tokenizer"] = f"sha256:{sha256(options.tokenizer)}"
    return found


def check_same(recorded: dict[str, Any], now: dict[str, Any], what: str, advice: str) -> None:
    """Refuse to mix what differs.

    Args:
        recorded: the fields as they were.
        now: as they are.
        what: what holds the recorded ones, as the beginning of a sentence.
        advice: what to do, as its end.

    Raises:
        BitcipherError: with the fields that differ.
    """
    differing = [name for name in {**recorded, **now} if recorded.get(name) != now.get(name)]
    if differing:
        fields = ", ".join(f"{name} {recorded.get(name)!r} → {now.get(name)!r}" for name in differing)
        raise BitcipherError(f"{what} was made otherwise than now ({fields}): {advice}.")
