import pytest
from tiny_prepared import written


@pytest.fixture
def corpus(tmp_path):
    return written(tmp_path / "corpus")
