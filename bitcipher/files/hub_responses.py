"""Checks of the responses of a Hugging Face Hub, before huggingface_hub makes paths of its cache from them.

HF_ENDPOINT can name any server. Commits, ETags and names of files become parts of paths of the cache, so that a commit
such as `../../bin` would write files outside of it. Each response is checked in the HTTP client, because a server can
answer the same request differently the second time.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.installation import install_command

_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_NAME = re.compile(r"(?!\.{1,2}$)[\w.+=-]{1,255}", re.ASCII)
# Header of a response, and what it must be.
_HEADERS = {"X-Repo-Commit": _COMMIT, "X-Linked-Etag": _NAME, "ETag": _NAME, "X-Xet-Hash": _NAME}
# Fields of JSON objects, at any depth.
_COMMITS = ("sha", "commitOid", "commit_hash")
_NAMES = ("oid", "blobId", "sha256", "xetHash")
_PATHS = ("rfilename", "path")
# Mark of requests to the API, which redirects keep.
_IS_API = "bitcipher_is_api"


def check_responses() -> None:
    """Let the HTTP client of huggingface_hub, which `datasets` uses too, check all responses.

    Raises:
        BitcipherError: if the installed version of huggingface_hub has no client of its own.
    """
    import huggingface_hub
    from huggingface_hub.utils import _http

    if not hasattr(huggingface_hub, "set_client_factory"):
        raise BitcipherError(f"huggingface_hub 1.0 or later is required: run `{install_command('hub')}`.")
    factory = getattr(_http, "_GLOBAL_CLIENT_FACTORY", None) or _http.default_client_factory
    if not isinstance(factory, _CheckingFactory):
        huggingface_hub.set_client_factory(_CheckingFactory(factory))


class _CheckingFactory:
    """Factory of clients that check their responses.

    Args:
        factory: factory of the clients, which can be one that the user has set.
    """

    def __init__(self, factory: Any):
        self._factory = factory

    def __call__(self) -> Any:
        client = self._factory()
        hooks = client.event_hooks
        client.event_hooks = {
            "request": [*hooks.get("request", []), _mark_request],
            "response": [*hooks.get("response", []), _check_response],
        }
        return client


def _mark_request(request: Any) -> None:
    request.extensions.setdefault(_IS_API, "/api/" in request.url.path)


def _check_response(response: Any) -> None:
    """Check the headers of a response, and the JSON that the API sends.

    Raises:
        BitcipherError: if a path that is made from them could be outside of the cache.
    """
    server = response.request.url.host
    for name, pattern in _HEADERS.items():
        value = response.headers.get(name)
        # The ETags of content, unlike those of the requests that ask for them, become no paths.
        is_used = name == "X-Repo-Commit" or response.request.method == "HEAD"
        if value and is_used and not pattern.fullmatch(value.lstrip("W/").strip('"')):
            raise _error(server, f"the header {name} {value!r}")
    if response.request.method != "HEAD" and response.request.extensions.get(_IS_API):
        response.read()
        for name, value in _fields(_parse(response.content)):
            if name in _PATHS:
                is_right = _is_relative(value)
            else:
                is_right = (_COMMIT if name in _COMMITS else _NAME).fullmatch(value)
            if not is_right:
                raise _error(server, f"{name} {value!r}")


def _error(server: str, what: str) -> BitcipherError:
    return BitcipherError(
        f"the server {server} sent {what[:200]}, which could write outside of the cache of huggingface_hub: check "
        "HF_ENDPOINT."
    )


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):  # huggingface_hub cannot read it either
        return None


def _fields(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields of JSON objects that can become parts of paths, at any depth."""
    rest = [value]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            for name, each in value.items():
                if isinstance(each, str) and name in (*_COMMITS, *_NAMES, *_PATHS):
                    yield name, each
            rest += value.values()
        elif isinstance(value, list):
            rest += value


def _is_relative(path: str) -> bool:
    return not re.search(r"[\\\x00-\x1f:]", path) and not set(path.split("/")) & {"", ".", ".."}
