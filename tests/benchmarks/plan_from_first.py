"""Estimate the build of a corpus from its first files, and print the estimated values and their ranges as JSON.

plan_from_first.py SHARE SAMPLE_MEGABYTES WORKERS MEMORY_MIB MODE DATA...

The sample is drawn from the first files of the listing with at least 1 / SHARE of the stored bytes. Of the other files,
only the sizes are known.
"""

import json
import sys

from measured_build import estimated_values

from pipelines.estimate.build_cost import Cluster, estimate_cost
from pipelines.estimate.calibrate import calibrate
from pipelines.estimate.corpus_laws import fit_laws
from pipelines.estimate.growth_law import Bound
from pipelines.estimate.sample import read_sample
from pipelines.ingest.sources import Source, list_sources
from pipelines.options import BuildOptions

NODE_BYTES = 1e12  # memory does not limit the number of workers


def first_files(sources: list[Source], share: float) -> list[Source]:
    """Return the first files with 1 / `share` of the bytes."""
    total, taken = sum(source.size for source in sources), 0
    for number, source in enumerate(sources, 1):
        taken += source.size
        if taken * share >= total:
            return sources[:number]
    return sources


def main(share: float, sample_megabytes: float, workers: int, memory_mib: int, mode: str, data: list[str]) -> None:
    """Print the estimate."""
    options = BuildOptions.parse({"memory_mib": memory_mib, "mode": mode})
    sources = list_sources(data)
    sample = read_sample(first_files(sources, share), options, int(sample_megabytes * 1e6))
    calibration = calibrate(sample.documents, options)
    laws = fit_laws(calibration, None)
    stored = sum(source.size for source in sources)
    tokens = stored * sample.text_per_stored_byte / calibration.text_per_token
    cluster = Cluster(1, max(1, workers), NODE_BYTES)
    costs = {
        bound: estimate_cost(tokens, stored, len(sources), calibration, laws, options, cluster, bound)
        for bound in Bound
    }
    seconds = {bound.value: sum(cost.wall_seconds.values()) for bound, cost in costs.items()}
    values = {bound.value: estimated_values(cost) for bound, cost in costs.items()}
    print(json.dumps({bound: {**values[bound], "wall seconds": seconds[bound]} for bound in values}))


if __name__ == "__main__":
    share, megabytes, workers, memory, mode, *data = sys.argv[1:]
    main(float(share), float(megabytes), int(workers), int(memory), mode, data)
