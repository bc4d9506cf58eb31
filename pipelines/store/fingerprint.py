"""Fingerprint of counts: counts may be added up only if their fingerprints are equal."""

import re
from importlib.metadata import version
from typing import TYPE_CHECKING

from bitcipher.errors import BitcipherError

if TYPE_CHECKING:
    from pipelines.ingest.held_out import HeldOut
    from pipelines.options import BuildOptions

# Increase this number when a change of readers, document chunks, tokenizers or counting changes the counts of a text. A
# test compares digests of counts, and fails after such a change.
COUNTS_VERSION = 2

# Increase this number when a change of readers gives another text for some sources. Counts are added up across such
# changes, and the command says so.
READERS_VERSION = 2
# Its name in fingerprints. Those from before it was recorded lack it.
READERS = "readers_version"

# Options that determine the counts. The other options affect the vocabulary and the vectors, how work is split, or
# (`max_bad_share`) whether a source fails, but not what is counted of a source that does not fail.
COUNTING_FIELDS = (
    *("format", "document", "field", "encoding", "max_record_mib"),
    *("tokenizer", "lowercase", "window", "summed"),
)

# Libraries whose version earlier fingerprints have, and the digest that replaced it.
_LIBRARIES = {"spacy": "spacy_rules", "tokenizers": "tokenizer_output"}

# SHA-256 in error messages, of which the first digits are shown.
_DIGEST = re.compile("[0-9a-f]{64}")
_SHOWN_DIGITS = 8

Fingerprint = dict[str, str | int | float | bool | None]


def fingerprint(options: "BuildOptions", held_out: "HeldOut | None" = None) -> Fingerprint:
    """Return all values that determine the counts of a text: options, hashes of files, and rules of libraries."""
    # Not at the top, because manifests have a fingerprint, and most commands compute none.
    from pipelines.ingest.content_hash import sha256
    from pipelines.tokenizers.registry import identify_tokenizer

    option_values = options.to_dict()
    values: Fingerprint = {name: option_values[name] for name in COUNTING_FIELDS}
    values["counts_version"] = COUNTS_VERSION
    values[READERS] = READERS_VERSION
    # Text that is taken as it is has no entry, as in builds from before there was this option.
    if options.is_normalized:
        values["normalization"] = options.normalization
    if options.tokenizer.endswith(".json"):
        values["tokenizer"] = f"sha256:{sha256(options.tokenizer)}"
    values |= identify_tokenizer(options.tokenizer)
    return values if held_out is None else values | held_out.fingerprint()


def check_same(recorded: Fingerprint, current: Fingerprint, owner: str, advice: str) -> None:
    """Check that two fingerprints are equal.

    Args:
        recorded: the stored fingerprint.
        current: fingerprint of the current call.
        owner: owner of the stored fingerprint, the beginning of the error message.
        advice: what the user can do, the end of the error message.

    Raises:
        BitcipherError: if the fingerprints differ. The message names the fields that differ.
    """
    current = _in_recorded_form(recorded, current)
    differing = [name for name in {**recorded, **current} if recorded.get(name) != current.get(name)]
    if differing:
        fields = ", ".join(f"{name} {recorded.get(name)!r} → {current.get(name)!r}" for name in differing)
        fields = _DIGEST.sub(lambda digest: f"{digest[0][:_SHOWN_DIGITS]}…", fields)
        raise BitcipherError(f"{owner} was made with other options ({fields}): {advice}.")


def keep_readers(recorded: Fingerprint, current: Fingerprint) -> Fingerprint:
    """Return the current fingerprint with the version of the readers of earlier counts, to which others are added.

    Args:
        recorded: fingerprint of the earlier counts.
        current: fingerprint of the current call.
    """
    values = {name: value for name, value in current.items() if name != READERS}
    return values | ({READERS: recorded[READERS]} if READERS in recorded else {})


def _in_recorded_form(recorded: Fingerprint, current: Fingerprint) -> Fingerprint:
    """Return a fingerprint with the fields that earlier fingerprints have.

    They have versions of libraries instead of digests. Other readers are no reason to refuse counts.
    """
    values = keep_readers(recorded, current)
    for library, digest in _LIBRARIES.items():
        if library in recorded and digest not in recorded and digest in values:
            del values[digest]
            values[library] = version(library)
    return values
