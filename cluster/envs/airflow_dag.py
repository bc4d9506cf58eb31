"""The nightly update as a DAG of Airflow 3: update, then check and prune. Copy it to the folder of your DAGs.

Fill in the build, its sources, and the address of the Ray dashboard. Airflow's workers need `bitcipher[cluster,s3]` and
read RAY_AUTH_TOKEN from their own environment. A task that failed is tried again, and then resumes from the finished
work. An update whose vectors moved too far (exit code 3) publishes nothing and is not tried again.
"""

import subprocess
import sys
from datetime import datetime, timedelta

from airflow.sdk import chain, dag, task  # pyright: ignore[reportMissingImports]
from airflow.sdk.exceptions import AirflowFailException  # pyright: ignore[reportMissingImports]

BUILD, SOURCES = "s3://vectors/c4", "s3://corpus/*.json.gz"
ADDRESS = "http://ray-head:8265"
DRIFT_EXCEEDED = 3  # exit code


@dag(
    schedule="30 2 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,  # a build has one job at a time
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
)
def bitcipher_nightly():
    """Add new text to a build every night."""

    @task
    def update() -> None:
        """Count new sources and publish a version."""
        job = ["update", BUILD, SOURCES, "--workers", "64", "--max-drift", "0.2"]
        code = run("submit", "--address", ADDRESS, "--", *job)
        if code == DRIFT_EXCEEDED:
            raise AirflowFailException("The vectors moved too far: see the log, and update with a higher --max-drift.")
        if code:
            raise RuntimeError(f"The update ended with exit code {code}; see the log.")

    @task
    def prune() -> None:
        """Remove all but the newest seven versions."""
        if run("prune", BUILD, "--keep", "7"):
            raise RuntimeError("The old versions were not removed; see the log.")

    chain(update(), prune())


def run(*arguments: str) -> int:
    """Run a command of bitcipher, with its output in the log of the task, and return its exit code."""
    return subprocess.run([sys.executable, "-m", "bitcipher", *arguments], check=False).returncode


bitcipher_nightly()
