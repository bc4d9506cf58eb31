"""A job that crashes at any change of the build directory leaves the old or the new version, and can be retried."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from builds import write_lines

SCRIPT = Path(__file__).with_name("crash_points.py")
# Import paths for the script: tests/ and this directory are not packages.
IMPORT_PATHS = (SCRIPT.parent, SCRIPT.parent.parent)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["build", "update"])
@pytest.mark.parametrize("step", [164, pytest.param(1, marks=pytest.mark.slow)])
def test_every_crash_leaves_a_complete_version(documents, tmp_path, print_measurement, kind, step):
    files = [write_lines(tmp_path / f"{i}.jsonl", documents[i * 30 : i * 30 + 30]) for i in range(5)]
    old = files[:3] if kind == "update" else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*IMPORT_PATHS, *sys.path)))}
    command = [sys.executable, SCRIPT, tmp_path / "builds", str(step), *old, "--", *files[len(old) :]]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3600, check=False)
    assert result.returncode == 0, result.stderr
    measurements = json.loads(result.stdout)
    print_measurement(result.stdout.strip())
    assert measurements["tested"] >= measurements["changes"] // step
    assert measurements["changes"] > 60
    newest = 2 if kind == "update" else 1
    # Only the last changes follow the publication, so few points leave the newest version.
    of_versions = [measurements.get(f"version {version}", 0) for version in (newest - 1, newest)]
    assert sum(of_versions) == measurements["tested"]
    assert of_versions[0] > 0
