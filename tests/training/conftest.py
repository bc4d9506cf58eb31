import pytest
import torch
from tiny_runs import config_of, write_tiny_text

from training.runs.pretraining_run import run_pretraining


@pytest.fixture(scope="session")
def tiny_text(tmp_path_factory):
    """Return the folder of the token shards of a small text."""
    return write_tiny_text(tmp_path_factory.mktemp("tiny") / "text")


@pytest.fixture(scope="session")
def one_thread():
    """Use one thread, so that sums have the same order on every machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def finished_run(tiny_text, one_thread, tmp_path_factory):
    """Return the folder of an uninterrupted run, which tests must not change."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    run_pretraining(config_of(folder, tiny_text))
    return folder
