"""Vectors in repositories of the Hugging Face Hub, by huggingface_hub: hf://OWNER/NAME, @REVISION and /FILE optional.

Nothing is downloaded unless such a URI is given, and only files that the readers of vectors use: none of them is a
pickle.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bitcipher.errors import BitcipherError, first_line
from bitcipher.files.hub_responses import check_responses
from bitcipher.installation import install_command

PROTOCOL = "hf://"

# Files of folders of vectors: those of `CipherVectors.save`, of static models, of NumPy and of spaCy.
FILES = ("*.json", "*.safetensors", "*.parquet", "*.npy", "words.txt", "config.cfg", "vocab/*")

CARD = """---
library_name: bitcipher
tags:
- word-embeddings
---
Word vectors of [bitcipher](https://github.com/bitcipher/bitcipher): {words:,} words, {dimensions} dimensions.

```python
from bitcipher import CipherVectors

vectors = CipherVectors.from_pretrained("{repository}")
```
"""

_URI = re.compile(r"hf://(?P<repository>[\w.-]+/[\w.-]+)(@(?P<revision>[^/]+))?(/(?P<file>.+))?")


def is_hub_uri(uri: str) -> bool:
    """Return whether a URI is of the Hub."""
    return uri.startswith(PROTOCOL)


def download(uri: str, revision: str | None = None, token: str | None = None) -> str:
    """Download a file, or the folder of vectors in a repository, to the cache of huggingface_hub; return its path.

    Args:
        uri: hf://OWNER/NAME, with @REVISION if it is not the newest, and with /FILE for one file.
        revision: branch, tag or commit, if the URI has none.
        token: access token; by default that of `hf auth login` or of HF_TOKEN.

    Raises:
        BitcipherError: if huggingface_hub is not installed, the URI is wrong, or the Hub refuses the request.
    """
    match = _URI.fullmatch(uri)
    if not match:
        raise BitcipherError(f"{uri} is not the URI of a repository: write hf://OWNER/NAME or hf://OWNER/NAME/FILE.")
    hub = _import_hub()
    revision = match["revision"] or revision
    arguments: dict[str, Any] = {"repo_id": match["repository"], "revision": revision, "token": token}
    with _translating_errors("read", uri):
        if match["file"]:
            return hub.hf_hub_download(filename=match["file"], **arguments)
        return hub.snapshot_download(allow_patterns=list(FILES), **arguments)


def upload(folder: str, repository: str, card: str, private: bool | None, message: str, token: str | None) -> str:
    """Upload a folder to a repository of the Hub, which is created if it does not exist; return the URL of the commit.

    Args:
        folder: local folder, whose files replace those of the same name.
        repository: OWNER/NAME.
        card: README.md of a repository without one.
        private: whether a new repository is private; None for the default of the owner.
        message: message of the commit.
        token: access token, see `download`.

    Raises:
        BitcipherError: if huggingface_hub is not installed, or the Hub refuses the request.
    """
    hub = _import_hub()
    with _translating_errors("write", f"{PROTOCOL}{repository}"):
        api = hub.HfApi(token=token)
        api.create_repo(repository, private=private, exist_ok=True)
        if not api.file_exists(repository, "README.md"):
            api.upload_file(path_or_fileobj=card.encode(), path_in_repo="README.md", repo_id=repository)
        return str(api.upload_folder(repo_id=repository, folder_path=folder, commit_message=message))


def _import_hub() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise BitcipherError(f"{PROTOCOL} requires huggingface_hub: run `{install_command('hub')}`.") from None
    check_responses()
    return huggingface_hub


@contextmanager
def _translating_errors(action: str, uri: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # those of huggingface_hub, and of its HTTP library, which depends on its version
        raise BitcipherError(f"Cannot {action} {uri}: {first_line(error)}.") from None
