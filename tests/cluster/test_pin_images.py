"""Digests of images: the placeholder in all files, and the script that replaces it."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cluster

ENVS = Path(cluster.__file__).parent / "envs"
SCRIPT = ENVS / "pin_images.py"
DIGEST = "sha256:" + "4e" * 32
IMAGE = re.compile(r"^[^#\n]*(?:image: (?:&image )?|PYTHON_IMAGE=)(\S+:\S+)$", re.MULTILINE)
PATHS = [path for path in sorted(ENVS.iterdir()) if path.is_file()]
FILES = [path for path in PATHS if path.name == "Dockerfile" or IMAGE.search(path.read_text())]


def placeholder() -> str:
    spec = importlib.util.spec_from_file_location("pin_images", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PLACEHOLDER


def pin(folder: Path, docker: str | None, *files: Path) -> subprocess.CompletedProcess[str]:
    """Run the script with a Docker that is a shell script, or without one."""
    (folder / "bin").mkdir(exist_ok=True)
    if docker is not None:
        (folder / "bin" / "docker").write_text(f"#!/bin/sh\n{docker}\n")
        (folder / "bin" / "docker").chmod(0o755)
    return subprocess.run(
        [sys.executable, SCRIPT, *files],
        env={**os.environ, "PATH": str(folder / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )


def copy_files(folder: Path) -> list[Path]:
    for path in FILES:
        (folder / path.name).write_text(path.read_text())
    return [folder / path.name for path in FILES]


def test_every_image_has_a_tag_and_a_digest():
    assert {path.name for path in FILES} >= {"Dockerfile", "kuberay-job.yaml", "kuberay-nightly.yaml"}
    for path in FILES:
        images = IMAGE.findall(path.read_text())
        assert images
        for image in images:
            assert re.fullmatch(r"[\w.:/-]+:[\w.-]+@sha256:[0-9a-f]{64}", image)


def test_placeholders_are_replaced_by_the_digests_of_the_tags(tmp_path):
    files = copy_files(tmp_path)
    result = pin(tmp_path, f'[ "$1 $2 $3" = "buildx imagetools inspect" ] && echo {DIGEST}', *files)
    assert (result.returncode, result.stderr) == (0, "")
    assert f"python:3.12-slim@{DIGEST}" in result.stdout.splitlines()
    for path in files:
        text = path.read_text()
        assert placeholder() not in text
        assert all(image.endswith(f"@{DIGEST}") for image in IMAGE.findall(text))
    assert pin(tmp_path, "exit 1", *files).returncode == 0  # nothing is left to look up


@pytest.mark.parametrize(
    ("docker", "sentence"),
    [
        (None, "Docker with buildx is needed"),
        ("echo 'not found' >&2; exit 1", r"The digest of \S+ cannot be found \(not found\)"),
        ("echo latest", r"The digest of \S+ cannot be found \(no digest\)"),
    ],
)
def test_nothing_changes_if_a_digest_cannot_be_found(tmp_path, docker, sentence):
    files = copy_files(tmp_path)
    before = [path.read_text() for path in files]
    result = pin(tmp_path, docker, *files)
    assert result.returncode == 1
    assert re.match(sentence, result.stderr)
    assert len(result.stderr.splitlines()) == 1
    assert [path.read_text() for path in files] == before
