"""Checks of `bitcipher doctor`: each with good and bad values, and all against a real cluster."""

import http.server
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from bitcipher.files import storage
from bitcipher.installation import install_command
from cluster.doctor.check_result import CheckResult, Level
from cluster.doctor.clock import check_clock
from cluster.doctor.dashboard import check_dashboard, check_exposure, check_token
from cluster.doctor.machine import (
    GB,
    check_disk,
    check_encoding,
    check_machine,
    check_memory,
    check_open_files,
    check_shared_memory,
)
from cluster.doctor.nodes import NodeReport, check_shared, read_results
from cluster.doctor.package_versions import MUST_MATCH, check_same_versions, check_versions, installed_versions
from cluster.doctor.storage import check_target

OK, WARNING, PROBLEM = Level.OK, Level.WARNING, Level.PROBLEM


def levels(results: list[CheckResult]) -> dict[str, Level]:
    return {each.check: each.level for each in results}


@pytest.fixture
def dashboard() -> Iterator[str]:
    """Server that responds like a dashboard without a token, with a clock that is an hour behind."""

    class Open(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response_only(200)
            self.send_header("Date", formatdate(time.time() - 3600, usegmt=True))
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"[]")

        def log_message(self, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Open) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_too_little_memory_is_reported():
    assert check_memory(16 * GB, 4).level is OK
    small = check_memory(4 * GB, 8)
    assert (small.level, "at most 2 workers" in small.message) == (WARNING, True)
    assert check_memory(1 * GB, 1).level is PROBLEM


def test_too_little_shared_memory_is_reported(tmp_path):
    size = os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_frsize
    assert check_shared_memory(2 * size).level is OK
    small = check_shared_memory(5 * size)
    assert (small.level, "--shm-size" in small.message) == (WARNING, True)
    assert check_shared_memory(GB, str(tmp_path / "none")).level is OK


def test_too_little_disk_space_is_reported(tmp_path):
    assert check_disk("disk", str(tmp_path), 20 * GB).level is OK
    assert check_disk("disk", str(tmp_path), 5 * GB).level is WARNING
    assert check_disk("disk", str(tmp_path), 0.5 * GB).level is PROBLEM
    assert str(tmp_path) in check_disk("disk", str(tmp_path)).message


def test_low_limit_of_open_files_is_reported():
    assert check_open_files(65_536).level is OK
    assert check_open_files(-1).level is OK  # the value of RLIM_INFINITY
    assert check_open_files(1_024).level is WARNING
    assert check_open_files(256).level is PROBLEM


def test_encodings_other_than_utf8_are_reported():
    assert check_encoding("utf-8").level is OK
    assert check_encoding("UTF8").level is OK
    assert check_encoding("iso8859-1").level is WARNING


def test_check_machine_runs_all_checks():
    found = levels(check_machine())
    assert list(found) == ["memory", "shared memory", "temporary directory", "open files", "encoding"]
    assert found["encoding"] is OK


def test_missing_packages_are_reported():
    installed = installed_versions()
    assert check_versions(installed).level is OK
    assert f"python {sys.version_info.major}.{sys.version_info.minor}" in check_versions(installed).message
    missing = check_versions({**installed, "numba": None})
    assert (missing.level, missing.message) == (PROBLEM, f"numba missing: {install_command('pipelines')}.")


def test_different_versions_of_nodes_are_reported():
    installed = installed_versions()
    assert check_same_versions(installed, installed, "the head").level is OK
    other = check_same_versions(installed, {**installed, "spacy": "3.0"}, "the head", MUST_MATCH)
    assert (other.level, "spacy is 3.0, not" in other.message) == (WARNING, True)
    assert check_same_versions(installed, {**installed, "ray": "2.0"}, "the head", MUST_MATCH).level is PROBLEM
    assert check_same_versions(installed, {**installed, "ray": "2.0"}, "this machine").level is WARNING


def test_wrong_clocks_are_reported():
    assert check_clock("clock", 1000, 1003, "the target").level is OK
    assert check_clock("clock", 1020, 1000, "the target").message.startswith("The clock of the target is 20 s ahead")
    late = check_clock("clock", 1000, 2000, "the target")
    assert (late.level, "1,000 s behind" in late.message) == (PROBLEM, True)


@pytest.mark.parametrize("template", ["{here}", "{here}/new/folder", "file://{here}/uri", "memory://doctor"])
def test_check_of_a_target_leaves_it_unchanged(tmp_path, template):
    target = template.format(here=tmp_path)
    assert set(levels(check_target(target)).values()) == {OK}
    assert list(tmp_path.iterdir()) == []


def test_target_without_permissions_is_a_problem(tmp_path):
    locked = tmp_path / "locked"
    locked.write_text("")  # not a folder: even root cannot write below it
    (result,) = check_target(str(locked / "target"))
    assert (result.check, result.level) == ("target", PROBLEM)
    assert str(locked) in result.message
    (unknown,) = check_target("s4://bucket")
    assert (unknown.level, "s4" in unknown.message) == (PROBLEM, True)


def test_store_that_lets_a_second_writer_win_is_a_problem(tmp_path, monkeypatch):
    def replace(uri: str, content: bytes) -> bool:
        with storage.writing(uri) as stream:
            stream.write(content)
        return True

    monkeypatch.setattr(storage, "create", replace)
    found = check_target(str(tmp_path))
    assert found[0].level is PROBLEM
    assert "second writer" in found[0].message
    assert list(tmp_path.iterdir()) == []


def test_target_that_differs_between_nodes_is_a_problem(tmp_path):
    (tmp_path / "file").write_text("")
    assert check_shared(str(tmp_path), str(tmp_path / "file")).level is OK
    apart = check_shared(str(tmp_path), str(tmp_path / "other"))
    assert (apart.level, "different directory on this node" in apart.message) == (PROBLEM, True)


def test_requests_without_a_token_must_be_refused():
    assert check_token(401).level is OK
    assert check_token(200).level is PROBLEM
    assert "ray get-auth-token --generate" in check_token(200).message
    assert check_token(404).level is PROBLEM


def test_exposed_dashboards_are_reported():
    assert check_exposure("http://127.0.0.1:8265", has_token=False).level is OK
    assert check_exposure("http://10.0.0.1:8265", has_token=True).level is WARNING
    assert check_exposure("http://10.0.0.1:8265", has_token=False).level is PROBLEM


def test_dashboard_without_a_token_and_with_a_wrong_clock_is_reported(dashboard):
    assert levels(check_dashboard(dashboard)) == {
        "address": OK,
        "token": PROBLEM,
        "dashboard": OK,
        "cluster's clock": PROBLEM,
    }


def test_address_without_a_server_is_reported(run_command, tmp_path):
    assert levels(check_dashboard("http://127.0.0.1:1")) == {"address": PROBLEM}
    code, out, _ = run_command("doctor", "--address", "http://127.0.0.1:1", "--target", tmp_path)
    assert code == 2
    assert "Cannot reach a Ray dashboard" in " ".join(out.split())


def test_results_are_found_in_a_log():
    assert read_results('starting\nbitcipher-doctor:{"nodes": {}}\nending\n') == NodeReport(nodes={})
    assert read_results("nothing\n") is None


def test_brackets_in_names_are_printed_literally(run_command, tmp_path):
    assert "[red]/[/x]" in "".join(run_command("doctor", "--target", tmp_path / "[red]" / "[/x]").out.split())


@pytest.mark.long
def test_doctor_checks_a_real_cluster(ray_cluster, tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "cluster.cli.main", "doctor", "--address", ray_cluster.jobs, "--target", "target"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "COLUMNS": "400"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.stderr == ""
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["token", "ok", "Requests", "without", "a", "token", "are", "refused."] in lines
    assert "Bound to loopback" in result.stdout
    assert "Nodes: 1; CPUs: 4." in result.stdout
    assert "The file that the head node wrote is visible." in result.stdout
    # The node reports the absolute path, and this machine the relative one.
    assert result.stdout.count(f"{tmp_path}/target can be listed") == 1
    # Machines differ, but every machine that runs the tests passes these checks.
    problems = {line[0] for line in lines if "problem" in line}
    assert problems <= {"memory", "temporary", "target's", "open"}
    assert result.returncode == (2 if problems else 0)
    assert list(tmp_path.iterdir()) == []
