import pytest
import torch
from tiny_runs import write_tiny_text


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
