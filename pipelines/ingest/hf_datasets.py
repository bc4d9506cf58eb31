"""Hugging Face datasets as sources: `hf://NAME?config=…&split=…&field=…`, streamed by the package `datasets`.

NAME is a dataset of the Hub, or an absolute path of a local folder of data files. Code of datasets is never run:
`datasets` 4 and later do not support it.

Files at `hf://datasets/…` are files of fsspec, and have nothing to do with this module.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from bitcipher.errors import BitcipherError
from bitcipher.files.hub_responses import check_responses
from bitcipher.files.storage import url_to_fs

PREFIX = "hf://"
PARAMETERS = ("config", "split", "field", "revision")

# A dataset of the Hub, or an absolute path.
_NAME = re.compile(r"/.+|(?!(?:datasets|spaces|buckets)(?:/|$))[\w.-]+(?:/[\w.-]+)?")
# Dataset that this thread opens.
_OPENED: ContextVar[str | None] = ContextVar("opened dataset", default=None)
# Data files of the Hub have the commit in their name.
_COMMIT = re.compile(r"hf://datasets/[^@]+@([0-9a-f]{40})/")


class DatasetUri(NamedTuple):
    """Parts of the URI of a dataset. Empty parts are not given."""

    name: str
    config: str = ""
    split: str = ""
    field: str = ""
    """Column that holds the text. It overrides the option `field`."""
    revision: str = ""
    """Commit, branch or tag of the Hub."""

    def __str__(self) -> str:
        values = {name: value for name, value in self._asdict().items() if name in PARAMETERS and value}
        return f"{PREFIX}{self.name}" + ("?" + urlencode(values, safe="/", quote_via=quote) if values else "")


class DatasetSplit(NamedTuple):
    """A split of a dataset."""

    uri: DatasetUri
    pinned: DatasetUri
    """URI with the commit that the revision has now."""
    files: tuple[str, ...]
    """Data files: paths, or URIs with a commit."""
    size: int
    """Sum of the sizes of the data files."""
    stamp: str
    """Hash of names, sizes and modification times of the data files."""


def is_dataset(uri: str) -> bool:
    """Return whether a URI names a dataset."""
    return uri.startswith(PREFIX) and _NAME.fullmatch(uri.removeprefix(PREFIX).partition("?")[0]) is not None


def parse_uri(uri: str) -> DatasetUri:
    """Return the parts of a URI.

    Raises:
        BitcipherError: if a parameter is unknown, repeated or empty.
    """
    name, _, query = uri.removeprefix(PREFIX).partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    values = dict(pairs)
    if len(values) < len(pairs) or not all(values.values()) or not values.keys() <= set(PARAMETERS):
        raise BitcipherError(
            f"{PREFIX}{name} can have {', '.join(PARAMETERS)}, each once, as in {PREFIX}NAME?split=train."
        )
    return DatasetUri(name, **values)


def list_splits(uri: str) -> list[DatasetSplit]:
    """Return the split that a URI names, or all splits.

    Raises:
        BitcipherError: if the dataset cannot be opened, or does not have the configuration or the split.
    """
    dataset = parse_uri(uri)
    load = _import("load_dataset_builder")
    with _opening(dataset.name):
        builder = _translate_errors(
            uri, lambda: load(dataset.name, dataset.config or None, revision=dataset.revision or None)
        )
    files: Mapping[Any, list[str]] = builder.config.data_files or {}
    splits = {str(split): tuple(map(str, names)) for split, names in files.items()}
    if not splits:
        raise BitcipherError(f"{uri} has no data files: download it in another format.")
    if dataset.split and dataset.split not in splits:
        raise BitcipherError(f"{uri} has no split {dataset.split!r}: choose {', '.join(splits)}.")
    return [_split(dataset._replace(split=each), splits[each]) for each in splits if each == (dataset.split or each)]


def hash_split(uri: str, sha256: Callable[[str], str]) -> str:
    """Return the content hash of a split: of its data files and the field.

    A file of the Hub is identified by its URI with the commit, so it need not be downloaded. A local file is identified
    by its SHA-256 and its name in the folder, so the hash does not depend on the name of the folder.

    Args:
        uri: URI of a dataset with a split.
        sha256: function that returns the SHA-256 of a file.
    """
    (split,) = list_splits(uri)
    is_local = split.uri.name.startswith("/")
    files = [[os.path.relpath(each, split.uri.name), sha256(each)] if is_local else [each] for each in split.files]
    return hashlib.sha256(json.dumps([split.uri.split, split.uri.field, files]).encode()).hexdigest()


def stream_rows(uri: str) -> Any:
    """Return the rows of a split as a `datasets.IterableDataset`.

    Raises:
        BitcipherError: if the dataset cannot be opened.
    """
    dataset = parse_uri(uri)
    load = _import("load_dataset")
    options = {"split": dataset.split, "revision": dataset.revision or None, "streaming": True}
    with _opening(dataset.name):
        return _translate_errors(uri, lambda: load(dataset.name, dataset.config or None, **options))


def _split(uri: DatasetUri, files: tuple[str, ...]) -> DatasetSplit:
    commit = _COMMIT.match(files[0])
    folder = _folder(uri.name)
    details = []
    for file in files:
        is_local = uri.name.startswith("/")
        # The description of a dataset can name any file.
        if not (os.path.realpath(file) if is_local else file).startswith(folder):
            raise BitcipherError(
                f"{uri} refers to {file}, which is not a file of the dataset: correct its description."
            )
        filesystem, path = url_to_fs(file)
        info = _translate_errors(str(uri), lambda filesystem=filesystem, path=path: filesystem.info(path))
        details.append([file, info["size"], str(info.get("mtime", "")) if is_local else ""])
    return DatasetSplit(
        uri,
        uri._replace(revision=commit[1] if commit else uri.revision),
        files,
        sum(size for _, size, _ in details),
        hashlib.sha256(json.dumps(details).encode()).hexdigest(),
    )


def _folder(name: str) -> str:
    """Return the beginning of the names of all data files of a dataset."""
    return os.path.join(os.path.realpath(name), "") if name.startswith("/") else f"{PREFIX}datasets/{name}@"


@contextmanager
def _opening(name: str) -> Iterator[None]:
    """Let `datasets` look for files of one dataset only, in the `with` block.

    The description of a dataset can name any file and address, and `datasets` would look for them, and so send
    requests to private addresses, before their names are known here.
    """
    from datasets import data_files

    if not isinstance(data_files.resolve_pattern, _CheckedResolver):
        data_files.resolve_pattern = _CheckedResolver(data_files.resolve_pattern)
    token = _OPENED.set(name)
    try:
        yield
    finally:
        _OPENED.reset(token)


class _CheckedResolver:
    """Function of `datasets` that finds data files, and refuses those that are not of the dataset that is opened.

    Other code of the process that uses `datasets` is not affected.
    """

    def __init__(self, resolve: Callable[..., list[str]]):
        self._resolve = resolve

    def __call__(self, pattern: str, *arguments: Any, **settings: Any) -> list[str]:
        name = _OPENED.get()
        if name is not None:
            is_relative = not re.match(r"/|~|\w+:", pattern)
            if "::" in pattern or ".." in pattern.split("/") or not (is_relative or pattern.startswith(_folder(name))):
                raise BitcipherError(f"it refers to {pattern}, which is not a file of the dataset; correct its README")
        return self._resolve(pattern, *arguments, **settings)


def _import(function: str) -> Callable[..., Any]:
    import datasets  # not at the top: the import takes seconds, and the package is optional

    check_responses()
    datasets.disable_progress_bars()  # bitcipher shows its own
    return getattr(datasets, function)


def _translate_errors(uri: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except BitcipherError as error:
        raise BitcipherError(f"Cannot open {uri}: {str(error).rstrip('.')}.") from None
    except Exception as error:  # `datasets` raises exceptions of many libraries
        reason = " ".join(str(error).split())[:500].rstrip(".") or type(error).__name__
        raise BitcipherError(f"Cannot open {uri}: {reason}. Check name, config, split and your permissions.") from error
