from pathlib import Path

import pytest
from builds import run_build, run_update, write_lines

from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.verify.verify import verify

OPTIONS = {"tokenizer": "whitespace", "mode": "cat", "bits": 6, "window": 2, "min_count": 1, "memory_mib": 600}


def damage_of(folder) -> list[str]:
    return [damage.sentence for damage in verify(str(folder), InProcessRuntime(), StageProgress()).damage]


@pytest.fixture(scope="module")
def original(documents, tmp_path_factory) -> Path:
    """Build with two versions and merged segments."""
    folder = tmp_path_factory.mktemp("verified")
    files = [write_lines(folder / f"{i}.jsonl", documents[i * 20 : i * 20 + 20]) for i in range(4)]
    run_build(files[:3], folder / "build", OPTIONS)
    run_update(files, folder / "build")
    return folder / "build"
