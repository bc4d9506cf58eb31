"""Commands as jobs of a real Ray cluster, and submissions that are refused."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import pytest
import typer

from bitcipher.errors import BitcipherError
from cluster.cli.main import all_commands
from cluster.jobs.job_paths import paths_of, translate_paths
from cluster.jobs.job_server import connect, find_address, is_loopback
from cluster.jobs.submit import jobs_of, read_variables, start_job, submit, wait_for
from cluster.jobs.working_dir import PACKAGES, pack_code, pack_files
from cluster.metavars import BUILD, MODEL, NAME_OR_PATH, PATH, VERSION_OR_PATH

COMMANDS = all_commands()
ROOT = Path(__file__).parents[3]


def bitcipher(*arguments: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cluster.cli.main", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(autouse=True)
def _no_address_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.long
def test_submitted_build_gives_vectors_log_and_exit_code(ray_cluster, corpus, tmp_path):
    # Outside the checkout, with a relative path, since the cluster is on this machine.
    (tmp_path / "corpus").symlink_to(corpus)
    arguments = ("build", "corpus", "--out=vectors", "--min-count", 3, "--tokenizer", "whitespace")
    result = bitcipher("submit", "--address", ray_cluster.jobs, "--", *arguments, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "dimensions" in result.stdout
    assert result.stderr == ""
    assert bitcipher("neighbors", "vectors", "the", cwd=tmp_path).returncode == 0


@pytest.mark.long
def test_mistake_in_a_job_prints_its_sentence_and_exits_with_2(ray_cluster, tmp_path):
    # An explicit address overrides that of the environment. Ray itself would use the latter.
    job = ("submit", "--address", ray_cluster.jobs, "--", "neighbors", "nowhere", "word")
    result = bitcipher(*job, cwd=tmp_path, RAY_ADDRESS="http://127.0.0.1:1")
    assert result.returncode == 2
    assert f"{tmp_path}/nowhere" in result.stdout
    assert "Traceback" not in result.stdout


@pytest.mark.long
def test_working_dir_and_variables_reach_the_job(ray_cluster, tmp_path):
    (tmp_path / "setup").mkdir()
    (tmp_path / "setup" / "recipe.yaml").write_text("bitz: 3\n")
    result = bitcipher(
        *("submit", "--address", ray_cluster.jobs, "--working-dir", "setup", "--env", "COLUMNS=200", "--no-wait", "--"),
        *("build", "--recipe", "recipe.yaml", "--out", tmp_path / "out"),
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    client, job = connect(ray_cluster.jobs), result.stdout.strip()
    while not client.get_job_status(job).is_terminal():
        time.sleep(0.2)
    assert "there is no option `bitz`" in client.get_job_logs(job)
    variables = client.get_job_info(job).runtime_env["env_vars"]
    assert variables == {"COLUMNS": "200", "RAY_USAGE_STATS_ENABLED": "0"}


BUILD_OPTIONS = ("--min-count", 3, "--tokenizer", "whitespace", "--workers", 1)


def write_code_of_the_user(folder: Path, *packages: str) -> None:
    for name in packages:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise SystemExit('mine')\n")
    (folder / "pipelines.py").write_text("raise SystemExit('mine')\n")


@pytest.mark.long
def test_code_of_the_user_with_names_of_our_packages_is_not_imported(ray_cluster, corpus, tmp_path):
    write_code_of_the_user(tmp_path / "mine", "training", "cluster", "bitcipher")
    submission = ("submit", "--address", ray_cluster.jobs, "--working-dir", "mine", "--")
    result = bitcipher(*submission, "build", corpus, *BUILD_OPTIONS, "--out", tmp_path / "submitted", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_job_of_ray_itself_does_not_import_code_of_the_user(ray_cluster, corpus, tmp_path):
    write_code_of_the_user(tmp_path / "mine", "training", "cluster")
    job = connect(ray_cluster.jobs)
    program = (sys.executable, "-c", "from bitcipher.__main__ import main; main()")
    command = shlex.join(map(str, (*program, "build", corpus, *BUILD_OPTIONS, "--out", tmp_path / "own")))
    settings = {"working_dir": str(tmp_path / "mine"), "env_vars": {"PYTHONPATH": str(ROOT)}}
    name = job.submit_job(entrypoint=command, runtime_env=settings)
    assert wait_for(job, name).status == "SUCCEEDED", job.get_job_logs(name)


@pytest.mark.long
def test_ctrl_c_stops_following_and_leaves_the_job_running(ray_cluster, tmp_path):
    os.mkfifo(tmp_path / "endless.txt")  # reading it blocks
    command = [sys.executable, "-m", "cluster.cli.main", "submit", "--address", ray_cluster.jobs, "--"]
    job = ["build", "--recipe", str(tmp_path / "endless.txt"), "--out", str(tmp_path / "out")]
    process = subprocess.Popen([*command, *job], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "Running entrypoint" not in process.stdout.readline():
        assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    name = errors.split("the job ")[1].split()[0]
    assert f"ray job stop --address {ray_cluster.jobs} {name}" in errors
    assert "Traceback" not in errors
    client = connect(ray_cluster.jobs)
    assert client.get_job_status(name) == "RUNNING"
    assert client.stop_job(name)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"RAY_AUTH_TOKEN": "0" * 32}, "refuses this token"), ({"RAY_AUTH_MODE": "disabled"}, "refuses this token")],
)
def test_refused_token_prints_one_sentence(ray_cluster, settings, expected):
    result = bitcipher("submit", "--address", ray_cluster.jobs, "--", "inspect", "/nowhere", **settings)
    assert (result.returncode, result.stdout) == (2, "")
    assert expected in result.stderr
    assert "ray get-auth-token" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_address_without_ray_prints_one_sentence():
    result = bitcipher("submit", "--address", "http://127.0.0.1:1", "--", "inspect", "/nowhere")
    assert (result.returncode, result.stdout) == (2, "")
    assert "Cannot reach a Ray dashboard at http://127.0.0.1:1 (no connection)" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "settings", "expected"),
    [
        (["bild", "x"], {}, "'bild' is not a command that can be submitted: choose shard"),
        (["doctor"], {}, "'doctor' is not a command"),
        (["study"], {}, "'study' is not a command"),
        (
            ["study", "bit-cipher", "table"],
            {},
            "'study bit-cipher table' is not .* choose shard, .*, study bit-cipher tables",
        ),
        (["inspect", "x"], {"address": "10.0.0.1:6379"}, "not the address of a Ray dashboard"),
        (["inspect", "x"], {"env": ["PATH"]}, "`--env` must be NAME=VALUE"),
        (["inspect", "vectors"], {"address": "http://192.0.2.1:8265"}, "vectors is a path on this machine"),
    ],
)
def test_invalid_submissions_raise(command, settings, expected):
    given = {"address": None, "working_dir": None, "env": [], "no_wait": False, **settings}
    with pytest.raises(BitcipherError, match=expected.replace("(", r"\(")):
        submit(COMMANDS, command, **given)


def test_values_of_invalid_variables_are_not_printed():
    assert read_variables(["A=b=c", "B="]) == {"A": "b=c", "B": ""}
    with pytest.raises(BitcipherError) as error:
        read_variables(["MY-KEY=secret"])
    assert "secret" not in str(error.value)


def test_address_of_the_environment_is_the_default(monkeypatch):
    assert find_address(None) is None
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")  # for Ray's own processes
    assert find_address(None) is None
    monkeypatch.setenv("RAY_ADDRESS", "http://head:8265/")
    assert find_address(None) == "http://head:8265"
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", "https://ray.example.org")
    assert find_address(None) == "https://ray.example.org"
    assert find_address("http://127.0.0.1:8265") == "http://127.0.0.1:8265"


def test_loopback_addresses_are_recognized():
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost")))
    assert not any(map(is_loopback, ("10.0.0.1", "0.0.0.0", "head", "localhost.example.org")))


def test_relative_paths_become_absolute_only_on_this_machine(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments = ["a.txt", "s3://b/*.txt", "/c", "--out=vectors", "--tokenizer", "t.json", "--mode", "sum"]
    assert translate_paths(COMMANDS["build"], arguments, None, is_local=True) == [
        *(f"{tmp_path}/a.txt", "s3://b/*.txt", "/c", f"--out={tmp_path}/vectors"),
        *("--tokenizer", f"{tmp_path}/t.json", "--mode", "sum"),
    ]
    with pytest.raises(BitcipherError, match=r"^a\.txt is a path on this machine"):
        translate_paths(COMMANDS["build"], arguments, None, is_local=False)
    everywhere = ["s3://b/*.txt", "--out", "/shared/out", "--tokenizer", "spacy"]
    assert translate_paths(COMMANDS["build"], everywhere, None, is_local=False) == everywhere


def test_metavars_distinguish_paths_from_names():
    def option(shown_as: str) -> typer.core.TyperCommand:
        app = typer.Typer(add_completion=False)

        @app.command()
        def command(value: Annotated[str, typer.Option(metavar=shown_as)]) -> None: ...

        return typer.main.get_command(app)

    assert paths_of(option(NAME_OR_PATH), ["--value", "spacy"]) == []
    assert paths_of(option(NAME_OR_PATH), ["--value", "spacy.json"]) == ["spacy.json"]
    assert paths_of(option(VERSION_OR_PATH), ["--value", "17"]) == []
    assert paths_of(option(VERSION_OR_PATH), ["--value", "old"]) == ["old"]


def test_paths_in_the_working_dir_are_not_translated(tmp_path):
    (tmp_path / "recipe.yaml").write_text("bits: 20\n")
    arguments = ["--recipe", "recipe.yaml", "--out", "s3://vectors"]
    assert translate_paths(COMMANDS["build"], arguments, str(tmp_path), is_local=False) == arguments


def test_commands_mark_all_their_path_arguments():
    names = {"sources", "out", "build", "builds", "vectors", "folder", "recipe", "word_list", "target"}
    names |= {"data", "pos", "ner", "similarity", "analogies"}
    for name, command in jobs_of(COMMANDS).items():
        unmarked = [
            each.name
            for each in command.params
            # `--vectors` of `build` and `update` is a choice.
            if each.name in names and each.metavar not in (PATH, BUILD, MODEL, NAME_OR_PATH, "now|later")
        ]
        assert not unmarked, f"{' '.join(name)}: `bitcipher submit` needs metavar=PATH for {unmarked}"
    assert paths_of(COMMANDS["embed"], ["x", "--out", "y", "--bits", "3"]) == ["x", "y"]


@pytest.mark.parametrize(
    "line",
    [
        "evaluate @vectors s3://b/glove.vec --pos @gum --seeds 1",
        "evaluate @vectors --similarity=@sets --analogies @questions.txt",
        "export @vectors --format glove --out @glove.txt",
        "explore @vectors --out @page.html --compare 3",
        "explore @vectors --out @page.html --compare @before",
        "study bit-cipher tables @build --pos @gum --ner s3://b/conll2003 --out @tables",
        "study downscaling filter @corpus s3://b/*.jsonl --vocabulary @words.txt --top 100 --out @language",
        "study downscaling choose-tokenizer @corpus s3://b/*.jsonl --words @words.txt --size 300 --out @tokenizers",
        "train @mine.yaml --out @run --prepared @prepared --set seed=2",
        "train figure-4-random --out @run",
        "sweep @mine.yaml --out @study --set seed=2 --budget 2h --max-concurrent-trials 8 --gpus 0.25",
        "sweep downscaling --out @study --scale 0.01",
        "tune @mine.yaml --out @tuned --search loop.batch_size=[8,16] --budget 9steps --set seed=2",
        "study bit-cipher figure-5 @target --pretraining @corpus --out @figure",
    ],
)
def test_path_arguments_of_every_command_are_translated(monkeypatch, tmp_path, line):
    monkeypatch.chdir(tmp_path)
    given = line.replace("@", "").split()
    (name,) = (name for name in jobs_of(COMMANDS) if name == tuple(given[: len(name)]))
    sent = [*name, *translate_paths(jobs_of(COMMANDS)[name], given[len(name) :], None, is_local=True)]
    assert sent == line.replace("@", f"{tmp_path}/").split()


def test_packed_code_has_no_caches_and_runs(tmp_path):
    assert pack_code(tmp_path) == [tmp_path / name for name in PACKAGES]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    # Code only: a model, text or a cache that is packed by mistake is larger than all of it, and every job uploads it.
    assert sum(path.stat().st_size for path in files) < 4_000_000
    assert not [path for path in files if path.suffix == ".pyc"]
    packaged = {"recipes": "yaml", "recipes/shard": "yaml", "reports/shard": "html", "reports/demo": "html"}
    packaged |= {"reports/explore": "css", "reports/maps": "js"}
    assert all(list(tmp_path.glob(f"pipelines/{folder}/*.{ending}")) for folder, ending in packaged.items())
    assert list(tmp_path.glob("training/studies/bit_cipher/*.yaml"))
    assert list(tmp_path.glob("training/studies/downscaling/sweep/recipes/*.yaml"))
    pages = tmp_path.glob("training/studies/downscaling/sweep/page.*")
    assert {path.suffix for path in pages} == {".py", ".html", ".css"}
    code = "import cluster.cli.main, pipelines, bitcipher; print(bitcipher.__file__, cluster.__file__)"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout.count(str(tmp_path)) == 2


def test_large_working_dirs_are_refused(tmp_path):
    extra, target = tmp_path / "extra", tmp_path / "target"
    target.mkdir()
    with pytest.raises(BitcipherError, match="does not exist"):
        pack_files(target, str(extra))
    extra.mkdir()
    (extra / "words.txt").write_text("a\n")
    (extra / ".git").mkdir()
    (extra / ".git" / "config").write_text("")
    pack_files(target, str(extra))
    assert sorted(path.name for path in target.iterdir()) == ["words.txt"]
    with (extra / "corpus.txt").open("wb") as stream:
        stream.truncate(60_000_000)
    with pytest.raises(BitcipherError, match="60 MB, but at most 50 MB"):
        pack_files(target, str(extra))


class BusyCluster:
    """Client of a cluster whose nodes accept jobs only after some attempts."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals

    def submit_job(self, **settings: object) -> str:
        self.refusals -= 1
        if self.refusals >= 0:
            raise RuntimeError(
                "Request failed with status code 500: No available agent to submit job, please try again."
            )
        return "job-1"


def test_jobs_are_submitted_again_until_a_node_accepts_them(capsys):
    assert start_job(BusyCluster(refusals=3), ["cluster.cli.main"], {}) == "job-1"
    assert capsys.readouterr().err.count("trying again") == 1
    with pytest.raises(BitcipherError, match=r"The cluster refused the job: .*No available agent"):
        start_job(BusyCluster(refusals=100), ["cluster.cli.main"], {})


def test_credentials_in_the_command_are_refused():
    command = ["build", "https://me:hunter2@host/a.txt?token=5e1f", "--out", "vectors"]
    with pytest.raises(BitcipherError, match=r"^https://host/a\.txt has credentials.*\.paths") as error:
        submit(COMMANDS, command, None, None, [], False)
    assert "hunter2" not in str(error.value)


def test_links_that_leave_the_working_dir_are_refused(tmp_path):
    folder, target = tmp_path / "extra", tmp_path / "target"
    (folder / "lists").mkdir(parents=True)
    target.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "words.txt").write_text("words")
    (folder / ".env").write_text("secret")
    (folder / "inside").symlink_to("words.txt")
    pack_files(target, str(folder))
    assert (target / "inside").read_text() == "words"
    assert not (target / "inside").is_symlink()
    for place in ("../secret", str(tmp_path / "secret"), "..", ".env", "loop", "../extra-2"):
        link = folder / "lists" / "link"
        link.symlink_to(place if place.startswith(("/", "loop")) else f"../{place}")
        if place == "loop":
            link.unlink()
            (folder / "lists" / "loop").symlink_to("loop")
            pack_files(target, str(folder))  # it leads nowhere, so nothing is sent
            continue
        with pytest.raises(BitcipherError, match=r"lists/link is a symbolic link to .*, which --working-dir does not"):
            pack_files(target, str(folder))
        link.unlink()
    assert not any("secret" in path.read_text() for path in target.rglob("*") if path.is_file() and path.suffix == "")
