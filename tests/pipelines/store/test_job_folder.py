"""What all folders of jobs have in common: which folders a job may use, and whose unfinished work it resumes."""

import pytest

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.records import Record
from pipelines.builds.prune import drop_unfinished
from pipelines.builds.status import read_status
from pipelines.shard.job import DOCUMENT_SHARDS
from pipelines.store.build_folder import BUILD
from pipelines.store.job_folder import FolderKind, folder_ledger, job_ledger
from pipelines.store.lease import Lease
from pipelines.store.ledger import EntryKind
from training.runs.launch.run_dir import run_folder
from training.studies.downscaling.filter.filter_corpus import FILTERED_CORPUS

KINDS = (BUILD, DOCUMENT_SHARDS, FILTERED_CORPUS, run_folder("run.json"))


class Done(Record):
    worker: str


DONE = EntryKind("done", Done)


@pytest.fixture
def kind():
    def is_published(folder):
        return storage.exists(storage.join(folder, "result.json"))

    return FolderKind("a result", is_published, names=("ledger", "files"), entries=(DONE,), work=DONE)


def write(folder, name):
    with storage.writing(storage.join(folder, name)) as stream:
        stream.write(b"mine")


@pytest.mark.parametrize("begun", KINDS, ids=lambda kind: kind.content)
def test_folder_that_another_kind_of_job_began_is_refused(begun, base_uri):
    folder = storage.join(base_uri, "folder")
    with Lease(folder, begun.lease):
        write(folder, f"{begun.names[0] if begun.names else 'metrics'}/file")
    before = storage.list_files(folder)
    for kind in KINDS:
        if kind is not begun:
            with pytest.raises(BitcipherError, match=f"is not empty, and does not hold {kind.content}: choose another"):
                kind.check_usable(folder)
    assert storage.list_files(folder) == before


def test_folder_is_usable_if_it_is_empty_or_of_the_kind(kind, base_uri):
    folder = storage.join(base_uri, "folder")
    kind.check_usable(folder)
    write(folder, "files/of-the-user")  # the name is one of ours, but no job has begun
    with pytest.raises(BitcipherError, match="does not hold a result"):
        kind.check_usable(folder)
    with Lease(folder):
        pass
    kind.check_usable(folder)
    write(folder, "notes.txt")
    with pytest.raises(BitcipherError, match="does not hold a result"):
        kind.check_usable(folder)
    write(folder, "result.json")
    kind.check_usable(folder)


def test_first_job_without_work_leaves_nothing(kind, base_uri):
    folder = storage.join(base_uri, "folder")
    with kind.leasing(folder):
        kind.start_job(folder, 1, {}, "wait")
        write(folder, "files/half")
    assert list(storage.list_files(folder)) == []
    with kind.leasing(folder):
        job_ledger(folder, kind.start_job(folder, 1, {}, "wait")).record(DONE, "a", Done(worker="first"))
    assert kind.has_work(folder)


def test_unfinished_job_is_resumed_with_the_same_options_only(kind, base_uri):
    folder = storage.join(base_uri, "folder")
    job = kind.start_job(folder, 1, {"window": 5}, "wait")
    job_ledger(folder, job).record(DONE, "a", Done(worker="first"))
    assert kind.start_job(folder, 1, {"window": 5}, "wait") == job
    with pytest.raises(BitcipherError, match=r"was made with other options \(window 5 → 6\): wait\."):
        kind.start_job(folder, 1, {"window": 6}, "wait")
    later = kind.start_job(folder, 2, {"window": 6}, "wait")  # version 1 was published, so its work is not needed
    assert (later.version, kind.find_job(folder), job_ledger(folder, later).keys(DONE)) == (2, later, [])


def test_late_worker_adds_nothing_to_the_next_job(kind, base_uri):
    folder = storage.join(base_uri, "folder")
    late = job_ledger(folder, kind.start_job(folder, 1, {"window": 5}, "wait"))
    folder_ledger(folder).clear()
    job = kind.start_job(folder, 1, {"window": 6}, "wait")
    late.record(DONE, "a", Done(worker="late"))
    assert job_ledger(folder, job).entries(DONE) == {}


def test_unfinished_job_is_not_that_of_another_kind_of_folder(base_uri):
    folder = storage.join(base_uri, "folder")
    with Lease(folder):
        DOCUMENT_SHARDS.start_job(folder, 1, {}, "wait")
    assert BUILD.find_job(folder) is None
    for command in (read_status, drop_unfinished):
        with pytest.raises(BitcipherError, match="no unfinished job"):
            command(folder)
    assert DOCUMENT_SHARDS.find_job(folder) is not None
