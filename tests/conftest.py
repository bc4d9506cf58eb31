"""What many tests share: one Ray cluster for the whole run, and a small corpus in files of every kind."""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

# Read by Ray when it is imported; and a test never joins a cluster that happens to be around.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ.pop("RAY_ADDRESS", None)


class RayAddresses(NamedTuple):
    """Where other processes find the cluster, and where jobs are submitted."""

    cluster: str
    jobs: str


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[RayAddresses]:
    """The one Ray cluster of the run, which `OnRay` finds and leaves running."""
    import ray

    context = ray.init(address="local", num_cpus=3, include_dashboard=True, dashboard_port=0, log_to_driver=False)
    yield RayAddresses(ray.get_runtime_context().gcs_address, f"http://{context.dashboard_url}")
    ray.shutdown()


@pytest.fixture(scope="session")
def documents() -> list[str]:
    """A text of its own kind: 600 documents of 40 to 1,600 words, whose frequencies fall as those of a language."""
    random = np.random.default_rng(20)
    stems = ["the", "of", "casa", "naïve", "قلب", "don't", "U.S.", "well-known", "word", "Straße", "10km", "emoji🙂"]
    words = np.array(stems + [f"w{i}" for i in range(20_000)])
    documents = []
    for _ in range(600):
        ranks = np.minimum(random.zipf(1.3, random.integers(40, 1_600)), len(words)) - 1
        documents.append(" ".join(words[ranks]))
    return documents


@pytest.fixture(scope="session")
def corpus(documents: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documents in a folder of JSON lines and text files, plain and compressed."""
    folder = tmp_path_factory.mktemp("corpus")
    parts = [documents[start::4] for start in range(4)]
    lines = ["".join(json.dumps({"text": text}) + "\n" for text in part) for part in parts[:2]]
    (folder / "a.jsonl").write_text(lines[0])
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines[1].encode()))
    (folder / "c.txt").write_text("\n".join(parts[2]))
    (folder / "d.txt.gz").write_bytes(gzip.compress("\n".join(parts[3]).encode()))
    return folder
