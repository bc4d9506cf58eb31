"""`bitcipher` commands as processes that tests can kill, and checks of a build after a job has ended."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bitcipher.counts.segment import part_files
from bitcipher.files import storage
from bitcipher.versions import versions
from pipelines.store.build_folder import COUNTED_SHARDS
from pipelines.store.job_folder import list_job_ledgers
from pipelines.store.stored_versions import StoredVersions


class Command:
    """Running `bitcipher` command whose JSON events are collected.

    Args:
        arguments: command-line arguments.
        log: file that receives events and error output.
        environment: environment variables added to those of this process.
        before: Python code that the process runs first.
    """

    def __init__(self, *arguments: object, log: Path, before: str = "", **environment: str):
        self._log = log
        code = f"{before}\nfrom cluster.cli.main import main\nmain()"
        with log.open("wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stream,
                env={**os.environ, "BITCIPHER_LOG": "json", **environment},
            )

    @property
    def is_running(self) -> bool:
        """Whether the process is still running."""
        return self.process.poll() is None

    def wait(self) -> int:
        """Wait for the process to end and return its exit code."""
        return self.process.wait(300)

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def wait_for_lease(self, build: object) -> None:
        """Wait until the command holds the lease of the build, or has ended."""
        while self.is_running:
            generations = storage.list_files(storage.join(str(build), "lease"))
            content = storage.read_bytes(storage.join(str(build), "lease", max(generations))) if generations else None
            if content and json.loads(content)["pid"] == self.process.pid:
                return
            time.sleep(0.02)

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the events with a name that were logged so far."""
        lines = [line for line in self._log.read_text().splitlines() if line.startswith("{") and line.endswith("}")]
        return [event for event in map(json.loads, lines) if event["event"] == name]

    def error_output(self) -> str:
        """Return the lines on stderr that are not events."""
        return "\n".join(line for line in self._log.read_text().splitlines() if not line.startswith("{"))


def recorded_shards(build: object) -> dict[str, list[str]]:
    """Return the parts of each shard that the ledger of an unfinished job records."""
    entries = (ledger.entries(COUNTED_SHARDS) for ledger in list_job_ledgers(str(build)))
    return {shard.name: list(shard.parts) for shards in entries for shard in shards.values()}


def unreferenced_files(build: object) -> set[str]:
    """Return the files of a build that no version refers to. A successful job leaves none."""
    build = str(build)
    stored = StoredVersions(build)
    published = [stored.find(version) for version in versions(build)]
    needed = {file for version in published for part in version.parts() for file in part_files(part)}
    manifests = [version.manifest for version in published]
    needed |= {f"versions/{manifest.version:06d}.json" for manifest in manifests}
    folders = tuple(f"{manifest.folder}/" for manifest in manifests)
    # The files of a version stay while a later version has its vectors.
    folders += tuple(m.vectors_from.folder.removesuffix("vectors") for m in manifests if m.vectors_from)
    names = [os.path.relpath(path, build) for path in Path(build).rglob("*") if path.is_file()]
    return {name for name in names if name not in needed and not name.startswith((*folders, "lease/"))}
