"""The command that adds an extra, for each origin of an installation."""

import json
from importlib.metadata import Distribution

import pytest

from bitcipher import installation
from bitcipher.installation import install_command

COMMIT = "0" * 40


class Installed(Distribution):
    """Distribution with the given content of direct_url.json."""

    def __init__(self, origin: dict | None):
        self._origin = origin

    def read_text(self, filename: str) -> str | None:
        return json.dumps(self._origin) if filename == "direct_url.json" and self._origin else None

    def locate_file(self, path: object) -> None:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'bitcipher[s3]'"),
        ({"url": "file:///a%20b/clone", "dir_info": {}}, "pip install '/a b/clone[s3]'"),
        ({"url": "file:///clone", "dir_info": {"editable": True}}, "pip install -e '/clone[s3]'"),
        (
            {"url": "file:///bitcipher-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install 'bitcipher[s3] @ file:///bitcipher-0.1.0-py3-none-any.whl'",
        ),
        (
            {"url": "https://example.org/b.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"pip install 'bitcipher[s3] @ git+https://example.org/b.git@{COMMIT}'",
        ),
    ],
)
def test_extras_come_from_where_the_installation_came_from(monkeypatch, origin, command):
    monkeypatch.setattr(installation, "distributions", lambda name: iter([Installed(None), Installed(origin)]))
    assert install_command("s3") == command
