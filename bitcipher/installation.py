"""The pip command that adds an extra to this installation of bitcipher, which is not on PyPI yet."""

import json
import shlex
from importlib.metadata import distributions
from typing import Any
from urllib.parse import unquote, urlsplit


def install_command(*extras: str) -> str:
    """Return the command that installs extras from where this installation came from: a clone, git or a wheel.

    Args:
        extras: names of extras.
    """
    name = f"bitcipher[{','.join(extras)}]"
    origin = _origin()
    if origin is None:  # from an index, or not installed at all
        return f"pip install {shlex.quote(name)}"
    url = origin["url"]
    if "dir_info" in origin:
        folder = f"{unquote(urlsplit(url).path)}[{','.join(extras)}]"
        editable = "-e " if origin["dir_info"].get("editable") else ""
        return f"pip install {editable}{shlex.quote(folder)}"
    if "vcs_info" in origin:
        url = f"{origin['vcs_info']['vcs']}+{url}@{origin['vcs_info']['commit_id']}"
    return f"pip install {shlex.quote(f'{name} @ {url}')}"


def _origin() -> dict[str, Any] | None:
    """Return the content of `direct_url.json` (PEP 610), which pip writes for packages that are not from an index."""
    # A clone as the working directory has metadata, too, but not this file.
    contents = (each.read_text("direct_url.json") for each in distributions(name="bitcipher"))
    return next((json.loads(content) for content in contents if content), None)
