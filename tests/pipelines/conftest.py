"""Fixtures of the tests of pipelines."""

import uuid
from collections.abc import Iterator

import pytest

from bitcipher.files import storage


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    """URI of a folder in memory."""
    uri = f"memory://{uuid.uuid4().hex}"
    yield uri
    storage.remove(uri)
