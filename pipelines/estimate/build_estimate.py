"""Estimate of a build: the expected cost and its range, from a sample of the corpus."""

import math
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.records import Record, Strings
from bitcipher.redaction import redact
from pipelines.estimate.build_cost import BuildCost, Cluster, estimate_cost
from pipelines.estimate.calibrate import Calibration, calibrate
from pipelines.estimate.corpus_laws import CorpusLaws, fit_laws
from pipelines.estimate.growth_law import Bound
from pipelines.estimate.limits import bad_record_limits, limits_reached
from pipelines.estimate.sample import SAMPLE_BYTES, SampledRecords, read_sample
from pipelines.ingest.source_changes import check_given
from pipelines.ingest.sources import list_sources
from pipelines.options import BuildOptions
from pipelines.store.fingerprint import COUNTING_FIELDS, check_same, fingerprint
from pipelines.store.manifest import BuildManifest
from pipelines.store.stored_files import use_given_files
from pipelines.store.stored_versions import StoredVersions


class EstimateRequest(Record):
    """Input of an estimate: a corpus, the options of its build, and a cluster.

    Raises:
        BitcipherError: if a value has the wrong type, or is out of bounds.
    """

    sources: Strings = ()
    """Files, folders or globs of the corpus. Leave out if `tokens` is given."""
    tokens: float | None = Field(None, gt=0, allow_inf_nan=False)
    """Number of tokens of the corpus. Leave out if `sources` are given."""
    sample: Strings = ()
    """Files, folders or globs of similar text, if `tokens` is given."""
    build: str | None = None
    """Build of similar text, whose options and counts are used."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Values of `BuildOptions`. They take precedence over the options of `build`."""
    cluster: Cluster


@dataclass(frozen=True)
class BuildEstimate:
    """Estimated costs of a build, and the data that they are computed from."""

    costs: dict[Bound, BuildCost]
    """Expected cost, and the costs at both ends of the range."""
    calibration: Calibration
    """Rates and sizes that were measured on the sample."""
    laws: CorpusLaws
    """Growth of words, pairs and vocabulary with the number of tokens."""
    options: BuildOptions
    """Options of the planned build."""
    cluster: Cluster
    """Machines of the planned build."""
    sampled: str
    """Description of the sample."""
    sampled_bytes: float
    """Bytes of text that were counted."""
    records: list[SampledRecords]
    """Numbers of records at the beginning of each sampled file."""
    limits: list[str]
    """Limits that the expected cost reaches, one sentence each."""
    possible_limits: list[str]
    """Limits that only the upper end of the range reaches."""


def estimate_build(request: EstimateRequest, sample_bytes: int = SAMPLE_BYTES) -> BuildEstimate:
    """Count and embed a sample, and return the estimated cost of a build.

    Args:
        request: corpus, options and cluster.
        sample_bytes: maximum number of bytes of text to count.

    Raises:
        BitcipherError: if sources, build or options are not valid.
    """
    counted = StoredVersions(storage.absolute(request.build)).find() if request.build else None
    options = _options(request, counted and counted.manifest)
    patterns = request.sources or request.sample
    if patterns:
        files = list_sources(patterns, options.format, list_protocols=options.list_protocols)
        sampled = redact(", ".join(patterns))
    elif counted:
        files, sampled = counted.sources, f"the sources of {request.build}"
        check_given(files, [])
    else:
        raise BitcipherError("A plan needs text: give sources, a sample, or a build.")
    sample = read_sample(files, options, sample_bytes)
    calibration = calibrate(sample.documents, options)
    laws = fit_laws(calibration, counted, options.max_vocab_size, _max_types(options.tokenizer))
    tokens = request.tokens
    if tokens is None:
        text_bytes = sum(file.size for file in files) * sample.text_per_stored_byte
        tokens = text_bytes / calibration.text_per_token
    stored_bytes = tokens * calibration.text_per_token / sample.text_per_stored_byte
    number = len(files) if request.sources else 0
    costs = {
        bound: estimate_cost(tokens, stored_bytes, number, calibration, laws, options, request.cluster, bound)
        for bound in Bound
    }
    limits, highest = (limits_reached(costs[bound], options, request.cluster) for bound in (Bound.POINT, Bound.HIGH))
    possible = [sentence for subject, sentence in highest.items() if subject not in limits]
    return BuildEstimate(
        costs=costs,
        calibration=calibration,
        laws=laws,
        options=options,
        cluster=request.cluster,
        sampled=sampled,
        sampled_bytes=calibration.points[-1].tokens * calibration.text_per_token,
        records=sample.records,
        limits=[*limits.values(), *bad_record_limits(sample.records, options.max_bad_share)],
        possible_limits=possible,
    )


def _max_types(tokenizer: str) -> float:
    """Return the maximum number of distinct tokens: that of a tokenizer.json, otherwise infinity."""
    if not tokenizer.endswith(".json"):
        return math.inf
    from pipelines.tokenizers.tokenizer_json import load_tokenizer

    return load_tokenizer(tokenizer).get_vocab_size()


def _options(request: EstimateRequest, manifest: BuildManifest | None) -> BuildOptions:
    if manifest is None:
        return BuildOptions.parse(request.options)
    # The user can give the file again that the build was made with.
    given = request.options.keys() - {"tokenizer"}
    fixed = [f"--{name.replace('_', '-')}" for name in COUNTING_FIELDS if name in given]
    if fixed:
        raise BitcipherError(f"The counting options of {request.build} are fixed: leave out {', '.join(fixed)}.")
    options = use_given_files(manifest.options, str(request.build), tokenizer=request.options.get("tokenizer"))
    if "tokenizer" in request.options:
        check_same(manifest.fingerprint, fingerprint(options), str(request.build), "give the same tokenizer")
    return options.derive(request.options)
