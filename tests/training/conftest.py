import pytest
import torch
from tiny_runs import write_tiny_text


@pytest.fixture(scope="session")
def tiny_text(tmp_path_factory):
    """Token shards of a small text, for models that read or write."""
    return write_tiny_text(tmp_path_factory.mktemp("tiny") / "text")


@pytest.fixture(scope="session")
def one_thread():
    """Sums in one order, whatever the machine has."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
