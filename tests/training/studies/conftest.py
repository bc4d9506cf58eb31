"""Markers of the tests of studies: a few of each study (`smoke`) run with all other tests, the rest on demand."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before pytest selects tests by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in this folder with `study`, but those that are marked with `smoke`."""
    for item in items:
        if item.path.is_relative_to(FOLDER) and item.get_closest_marker("smoke") is None:
            item.add_marker(pytest.mark.study)
