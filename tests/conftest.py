"""Fixtures of all tests: one Ray cluster per session, a small corpus, and S3 stores."""

import gzip
import json
import os
import signal
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import fsspec
import hypothesis
import numpy as np
import pytest
from object_store import FaultyStore, serving

from bitcipher.files import storage

# Ray reads these when it is imported. Tests never join a running cluster.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ.pop("RAY_ADDRESS", None)
# Ray's workers have a low priority by default (15), so other test processes would starve them.
os.environ["RAY_worker_niceness"] = "0"
# Read when the packages of Hugging Face are imported.
os.environ["HF_DATASETS_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"
# Without stored bytecode, each of the hundreds of processes that tests start would compile the packages anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Clusters start jobs as `python`, which must be that of the tests, as in an activated environment.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

# A shell that starts the tests in the background lets them ignore SIGINT, and commands that they start would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The duration of an example depends on the machine more than on the code.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")

# Number of tests that have not yet used the Ray cluster of the session.
WAITING_TESTS = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in the same hook.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Assign the tests of a file to one process, and all tests with a Ray cluster to one process.

    Tests that share the cluster of the session run last, so that it does not run during other tests.
    """
    for item in items:
        uses_ray = _shares_cluster(item) or item.get_closest_marker("ray")
        group = "ray" if uses_ray else item.location[0]
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=_shares_cluster)


@pytest.hookimpl(trylast=True)  # after the fixtures of the test are torn down
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Stop the Ray cluster after the last test that uses it. Its processes take a tenth of a core while they wait."""
    if _shares_cluster(item):
        waiting = item.session.stash.setdefault(WAITING_TESTS, sum(map(_shares_cluster, item.session.items)))
        item.session.stash[WAITING_TESTS] = waiting - 1
        if waiting == 1:
            import ray

            ray.shutdown()


def _shares_cluster(item: pytest.Item) -> bool:
    return "ray_cluster" in getattr(item, "fixturenames", ())


class CommandResult(NamedTuple):
    """End of a `bitcipher` command."""

    code: int
    out: str
    err: str


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., CommandResult]:
    """Function that runs a `bitcipher` command in this process."""
    from cluster.cli.main import main

    def run_command(*arguments: object) -> CommandResult:
        monkeypatch.setattr(sys, "argv", ["bitcipher", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capfd.readouterr()
        code = end.value.code or 0
        return CommandResult(code if isinstance(code, int) else 1, printed.out, printed.err)

    return run_command


class RayAddresses(NamedTuple):
    """Addresses of the cluster: for other processes, and for job submission."""

    cluster: str
    jobs: str


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[RayAddresses]:
    """Ray cluster of the session, which `RayRuntime` joins and leaves running."""
    import ray

    context = ray.init(address="local", num_cpus=4, include_dashboard=True, dashboard_port=0, log_to_driver=False)
    yield RayAddresses(ray.get_runtime_context().gcs_address, f"http://{context.dashboard_url}")
    ray.shutdown()


@pytest.fixture(scope="session")
def documents() -> list[str]:
    """600 documents of 40 to 1,600 words with Zipfian frequencies."""
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
    """Directory with the documents as JSON lines and text files, plain and compressed."""
    folder = tmp_path_factory.mktemp("corpus")
    parts = [documents[start::4] for start in range(4)]
    lines = ["".join(json.dumps({"text": text}) + "\n" for text in part) for part in parts[:2]]
    (folder / "a.jsonl").write_text(lines[0])
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines[1].encode()))
    (folder / "c.txt").write_text("\n".join(parts[2]))
    (folder / "d.txt.gz").write_bytes(gzip.compress("\n".join(parts[3]).encode()))
    return folder


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """Address of an S3 server on loopback; the environment points this process and its children to it."""
    with serving() as address:
        yield address


@pytest.fixture
def s3(s3_server: str) -> str:
    """URI of a new bucket."""
    uri = f"s3://bucket-{uuid.uuid4().hex}"
    filesystem, path = storage.url_to_fs(uri)
    filesystem.mkdir(path)
    return uri


@pytest.fixture
def faulty_s3(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStore]:
    """Proxy of the S3 server that injects planned faults; this process uses it until the test ends."""
    with FaultyStore(s3_server) as store:
        # s3fs' own retries are enough; those of botocore would delay a final error by half a minute.
        client = {"connect_timeout": 2, "read_timeout": 2, "retries": {"total_max_attempts": 1}}
        monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": store.address, "config_kwargs": client})
        yield store


@pytest.fixture(params=["disk", "s3"])
def base_uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URI of an empty directory: on the local disk, and in an S3 store."""
    return str(tmp_path) if request.param == "disk" else request.getfixturevalue("s3")
