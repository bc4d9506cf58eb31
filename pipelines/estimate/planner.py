"""From what a user asks to the plans of a build: the point, and what lies below and above it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bitcipher import storage
from bitcipher.errors import BitcipherError
from pipelines.estimate.calibrate import calibrate
from pipelines.estimate.calibration import Calibration
from pipelines.estimate.corpus_laws import CorpusLaws, fit_laws
from pipelines.estimate.estimate import Cluster, Plan, estimate
from pipelines.estimate.growth_law import Bound
from pipelines.estimate.limits import limits_reached
from pipelines.estimate.sample import SAMPLE_BYTES, read_sample
from pipelines.ingest.sources import list_sources
from pipelines.options import BuildOptions
from pipelines.store.fingerprint import COUNTED
from pipelines.store.manifest import BuildManifest, read_manifest


@dataclass(frozen=True)
class Request:
    """What is to be planned.

    Attributes:
        sources: of the corpus; none where tokens are given.
        tokens: of the corpus; None where sources are given.
        sample: files of text like it, where tokens are given.
        build: a build of such text, or None.
        options: values of `BuildOptions`.
        cluster: where it is to run.
    """

    sources: Sequence[str]
    tokens: float | None
    sample: Sequence[str]
    build: str | None
    options: dict[str, Any]
    cluster: Cluster


@dataclass(frozen=True)
class Plans:
    """The plan by each of the ways on, with what it rests on.

    Attributes:
        plans: by bound.
        calibration, laws: what was measured.
        options: of the build.
        cluster: where it is to run.
        sampled: what the sample is, in words.
        sampled_bytes: of text that was counted.
        limits: sentences on what the plan reaches.
        possible_limits: those that only the upper plan reaches.
    """

    plans: dict[Bound, Plan]
    calibration: Calibration
    laws: CorpusLaws
    options: BuildOptions
    cluster: Cluster
    sampled: str
    sampled_bytes: float
    limits: list[str]
    possible_limits: list[str]


def make_plans(request: Request, sample_bytes: int = SAMPLE_BYTES) -> Plans:
    """Calibrate, and plan.

    Args:
        request: what is to be planned.
        sample_bytes: text to count at most.

    Raises:
        BitcipherError: if sources, build or options do not allow it.
    """
    manifest = read_manifest(storage.absolute(request.build)) if request.build else None
    options = _options(request, manifest)
    patterns = request.sources or request.sample
    if patterns:
        files, sampled = list_sources(patterns, options.format), ", ".join(patterns)
    elif manifest:
        files, sampled = manifest.sources, f"the sources of {request.build}"
    else:
        raise BitcipherError("A plan needs some text: give sources, a sample, or a build.")
    sample = read_sample(files, options, sample_bytes)
    calibration = calibrate(sample.documents, options)
    laws = fit_laws(calibration, manifest, options.max_vocab_size, _most_types(options.tokenizer))
    tokens = request.tokens
    if tokens is None:
        text_bytes = sum(file.size for file in files) * sample.text_per_stored_byte
        tokens = text_bytes / calibration.text_per_token
    stored_bytes = tokens * calibration.text_per_token / sample.text_per_stored_byte
    plans = {
        bound: estimate(tokens, stored_bytes, calibration, laws, options, request.cluster, bound) for bound in Bound
    }
    limits, highest = (limits_reached(plans[bound], options, request.cluster) for bound in (Bound.POINT, Bound.HIGH))
    possible = [sentence for about, sentence in highest.items() if about not in limits]
    return Plans(
        plans=plans,
        calibration=calibration,
        laws=laws,
        options=options,
        cluster=request.cluster,
        sampled=sampled,
        sampled_bytes=calibration.points[-1].tokens * calibration.text_per_token,
        limits=list(limits.values()),
        possible_limits=possible,
    )


def _most_types(tokenizer: str) -> float:
    """Words that a tokenizer can give: a tokenizer.json has a vocabulary of its own."""
    if not tokenizer.endswith(".json"):
        return math.inf
    from pipelines.tokenizers.huggingface import load_tokenizer

    return load_tokenizer(tokenizer).get_vocab_size()


def _options(request: Request, manifest: BuildManifest | None) -> BuildOptions:
    if manifest is None:
        return BuildOptions.parse(request.options, "The plan")
    fixed = [f"--{name.replace('_', '-')}" for name in COUNTED if name in request.options]
    if fixed:
        raise BitcipherError(f"{request.build} was counted with options of its own: leave out {', '.join(fixed)}.")
    return manifest.options.derive(request.options, "The plan")
