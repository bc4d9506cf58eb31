"""Files, folders and symbolic links of users in and next to the folders of jobs. No job removes them."""

import json
import os

import pytest
from builds import run_build, run_update, write_lines
from document_shards import make_shards

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.versions import versions
from pipelines.builds import prune as prune_module
from pipelines.builds.build import build
from pipelines.builds.prune import collect_garbage, drop_unfinished, prune
from pipelines.embed.embed_counts import embed_build
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.store.build_folder import BUILD
from pipelines.store.job_folder import JobEntry
from pipelines.store.lease import Lease
from pipelines.store.stored_versions import StoredVersions
from training.studies.downscaling.filter.filter_corpus import filter_corpus
from training.studies.downscaling.filter.options import FilterOptions

TEXTS = ["the cat saw the dog", "the dog saw a cat and a bird", "one dog and the cat"] * 9
FEW = BuildOptions(tokenizer="whitespace", min_count=1, memory_mib=600)


class ProgressWithAction(StageProgress):
    """Progress that calls a function when a stage begins."""

    def __init__(self, stage, action):
        super().__init__()
        self._stage, self._action = stage, action

    def begin(self, name, total, done=0):
        if name == self._stage:
            self._action()
        return super().begin(name, total, done)


def content(folder):
    """Return all files, empty folders and links below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes()
        elif not any(path.iterdir()):
            found[name] = None
    return found


def write(path, text="mine"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def texts(tmp_path):
    return write_lines(tmp_path / "texts.jsonl", TEXTS)


@pytest.fixture
def faulty(tmp_path):
    """Source of bad records, which makes a job fail before it has work to resume."""
    return write(tmp_path / "faulty.jsonl", '{"text": "a"}\n{')


@pytest.fixture(params=["build", "shard"])
def start(request):
    """Function that starts a job of a kind from a source in a folder."""
    if request.param == "build":
        return lambda source, out: run_build([source], out, FEW)
    return lambda source, out: make_shards(out, source)


def fail(start, faulty, out):
    with pytest.raises(BitcipherError, match=r"faulty\.jsonl"):
        start(faulty, out)


def take_over(folder):
    """Take over a lease, as a job on another machine does after its holder was suspended."""
    lease = folder / "lease"
    (mine,) = lease.iterdir()
    holder = json.loads(mine.read_text()) | {"owner": "successor", "host": "far", "machine": "far"}
    (lease / f"{int(mine.stem) + 1:06d}.json").write_text(json.dumps(holder))
    mine.unlink()


@pytest.mark.parametrize("name", ["lease/contract.txt", "lease/7.json", "work/thesis.txt", "ledger/2025.csv"])
def test_folder_of_the_user_with_a_name_of_jobs_is_refused(start, texts, tmp_path, name):
    write(tmp_path / "mine" / name)
    before = content(tmp_path / "mine")
    with pytest.raises(BitcipherError, match=r"mine .*choose another"):
        start(texts, tmp_path / "mine")
    assert content(tmp_path / "mine") == before


def test_failed_first_job_leaves_no_files_and_the_folder_as_it_was(start, faulty, tmp_path):
    fail(start, faulty, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").mkdir()
    fail(start, faulty, tmp_path / "mine")
    assert content(tmp_path / "mine") == {}
    (tmp_path / "mine/empty").mkdir()
    fail(start, faulty, tmp_path / "mine")
    assert (tmp_path / "mine/empty").is_dir()


def test_failed_first_job_in_a_store_leaves_no_files(start, faulty, s3):
    fail(start, faulty, f"{s3}/out")
    assert storage.list_files(s3, unfinished=True) == {}


def test_prune_that_was_taken_over_removes_nothing(texts, tmp_path, monkeypatch):
    out = tmp_path / "out"
    run_build([texts], out, FEW)
    BUILD.record_job(str(out), JobEntry(id="ab", version=2, fingerprint={}, started="2026-01-31T12:00:00+00:00"))
    count_recorded_shards = prune_module.count_recorded_shards

    def read_slowly(folder):
        found = count_recorded_shards(folder)
        take_over(out)
        return found

    monkeypatch.setattr(prune_module, "count_recorded_shards", read_slowly)
    with pytest.raises(BitcipherError, match="Another job has taken over"):
        drop_unfinished(str(out))
    assert BUILD.find_job(str(out)) is not None


def test_files_that_appear_during_a_failed_build_are_kept(texts, tmp_path):
    def interrupt():
        write(tmp_path / "new/notes.txt")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build([str(texts)], str(tmp_path / "new"), FEW, InProcessRuntime(), ProgressWithAction("count", interrupt))
    assert content(tmp_path / "new") == {"notes.txt": b"mine"}


def test_failed_job_keeps_the_link_to_its_folder(start, faulty, texts, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    fail(start, faulty, tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert content(tmp_path / "disk") == {}
    start(texts, tmp_path / "out")
    assert (tmp_path / "disk/lease").is_dir()


def test_failed_job_keeps_links_in_its_folder(start, faulty, tmp_path):
    write(tmp_path / "disk/file")
    for name in ("work", "ledger", "shards", "keys"):
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / name).symlink_to(tmp_path / "disk")
    fail(start, faulty, tmp_path / "out")
    assert (tmp_path / "disk/file").read_text() == "mine"
    assert all((tmp_path / "out" / name).is_symlink() for name in ("work", "ledger", "shards", "keys"))


def test_build_that_was_taken_over_and_terminated_removes_nothing(texts, tmp_path):
    out = tmp_path / "out"

    def terminate():
        take_over(out)
        write(out / "shards/of-the-successor.words.parquet")
        raise SystemExit

    with pytest.raises(SystemExit):
        build([str(texts)], str(out), FEW, InProcessRuntime(), ProgressWithAction("count", terminate))
    assert {"lease/000002.json", "shards/of-the-successor.words.parquet", "ledger/job/current.json"} <= {*content(out)}


def test_shard_job_that_was_taken_over_after_it_published_removes_nothing(texts, tmp_path, monkeypatch):
    out, create = tmp_path / "out", storage.create

    def create_and_lose_the_lease(uri, data):
        created = create(uri, data)
        if "/manifests/" in uri:
            take_over(out)
            write(out / "work/of-the-successor")
        return created

    monkeypatch.setattr(storage, "create", create_and_lose_the_lease)
    make_shards(out, texts)
    assert {"work/of-the-successor", "ledger/shard-job/current.json"} <= {*content(out)}


def test_failed_job_after_another_job_removes_nothing(start, faulty, tmp_path):
    with Lease(str(tmp_path / "out")):  # ended without a version
        write(tmp_path / "out/work/of-that-job")
    fail(start, faulty, tmp_path / "out")
    assert (tmp_path / "out/work/of-that-job").exists()


def embed(folder, target, progress=None):
    embed_build(str(folder), str(target), {"vector_size": 2}, 600, InProcessRuntime(), progress or StageProgress())


def test_embed_keeps_folders_next_to_its_target(texts, tmp_path):
    run_build([texts], tmp_path / "built", FEW)
    write(tmp_path / "F.work/thesis.txt")
    embed(tmp_path / "built", tmp_path / "F")
    assert (tmp_path / "F.work/thesis.txt").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"texts.jsonl", "built", "F", "F.work"}


def test_embed_removes_only_what_a_killed_embed_left(texts, tmp_path):
    run_build([texts], tmp_path / "built", FEW)
    child = os.fork()
    if child == 0:
        embed(tmp_path / "built", tmp_path / "F", ProgressWithAction("embed", lambda: os._exit(9)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    (left,) = tmp_path.glob("F.*.tmp")
    mine = [f"{left.name}s", f"F.{'0' * 32}.tmp", f"G.{'0' * 32}.tmp"]
    for name in mine:
        write(tmp_path / name / "thesis.txt")
    with Lease(str(tmp_path / f"F.{'1' * 32}.tmp")):  # of another process that is running
        embed(tmp_path / "built", tmp_path / "F")
        assert {path.name for path in tmp_path.glob("*tmp*")} == {*mine, f"F.{'1' * 32}.tmp"}


@pytest.mark.parametrize("name", ["F/manifest.json", "F/thesis.txt", "F"])
@pytest.mark.parametrize("is_late", [False, True])
def test_embed_keeps_a_target_that_appears_while_it_runs(texts, tmp_path, monkeypatch, name, is_late):
    run_build([texts], tmp_path / "built", FEW)
    write_json = json_files.write

    def appear():
        write(tmp_path / name)

    def appear_before_the_end(uri, values):
        write_json(uri, values)
        if uri.startswith(str(tmp_path / "F.")):  # the last file of the temporary folder
            appear()

    progress = StageProgress() if is_late else ProgressWithAction("embed", appear)
    if is_late:
        monkeypatch.setattr(json_files, "write", appear_before_the_end)
    with pytest.raises(BitcipherError, match="already exists"):
        embed(tmp_path / "built", tmp_path / "F", progress)
    assert (tmp_path / name).read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"texts.jsonl", "built", "F"}


def test_embed_keeps_a_link_to_a_missing_folder(texts, tmp_path):
    run_build([texts], tmp_path / "built", FEW)
    (tmp_path / "F").symlink_to(tmp_path / "unmounted")
    with pytest.raises(BitcipherError, match="already exists"):
        embed(tmp_path / "built", tmp_path / "F")
    assert (tmp_path / "F").is_symlink()


@pytest.mark.parametrize("name", ["shards", "segments", "versions", "work"])
def test_prune_and_update_remove_nothing_behind_links(texts, tmp_path, name):
    built, disk = tmp_path / "built", tmp_path / "disk"
    run_build([texts], built, FEW)
    run_update(built, [texts, write_lines(tmp_path / "more.jsonl", TEXTS[:1])])
    write(built / name / "000000-mine" / "thesis.txt")
    (built / name).rename(disk)
    (built / name).symlink_to(disk)
    before = content(disk)
    for remove in (lambda: prune(str(built), 1), lambda: drop_unfinished(str(built))):
        with pytest.raises(BitcipherError, match=f"{name} is a symbolic link"):
            remove()
    collect_garbage(StoredVersions(str(built)))  # at the end of an update
    assert content(disk) == before
    assert (built / name).is_symlink()
    assert versions(str(built)) == [1, 2]


def test_files_that_were_added_to_folders_of_a_finished_job_are_kept(start, texts, tmp_path):
    start(texts, tmp_path / "out")
    for name in ("work/thesis.txt", "shards/notes.txt", "segments/2025.csv", "versions/notes.txt"):
        if (tmp_path / "out/versions").exists() or name.startswith("work"):
            write(tmp_path / "out" / name)
    before = {name for name in content(tmp_path / "out") if not name.startswith("lease/")}
    more = write_lines(tmp_path / "more.jsonl", TEXTS[:1])
    if (tmp_path / "out/versions").exists():
        run_update(tmp_path / "out", [texts, more])
        prune(str(tmp_path / "out"), 2)
    else:
        make_shards(tmp_path / "out", texts, more)
    assert before <= {*content(tmp_path / "out")}


def test_repeated_filter_keeps_folders_that_were_added_to_its_result(texts, tmp_path):
    words = write(tmp_path / "words.txt", "the\ncat\nsaw\ndog\na\nand\n")

    def run():
        options = FilterOptions(span=4, stride=2)
        filter_corpus([str(texts)], str(words), str(tmp_path / "out"), options, InProcessRuntime(), StageProgress())

    run()
    for name in ("words/mine.txt", "ledger/mine.txt", "mine.unfinished"):
        write(tmp_path / "out" / name)
    before = content(tmp_path / "out")
    run()
    assert content(tmp_path / "out") == before
