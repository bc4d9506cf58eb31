"""Inputs of a result: the files that it was made from, with digests of their contents, and versions of the stages.

A command that resumes or caches records the inputs with its result, and compares them before it uses the result again:
an input that differs is refused, and a finished result does not need inputs that are gone.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import AfterValidator, Field

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.records import FROM_LIST, Record
from bitcipher.redaction import redact

if TYPE_CHECKING:
    from pipelines.ingest.sources import Source

# Maximum number of files that an error names.
_MAX_NAMED = 3


class InputFile(Record):
    """File that a result was made from."""

    uri: Annotated[str, AfterValidator(redact)]
    """Path or URI without credentials."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of its content in hexadecimal."""


class RecordedInputs(Record):
    """Inputs of a result, as stored with it."""

    files: dict[str, Annotated[tuple[InputFile, ...], FROM_LIST]]
    """Files of each option, such as `text.sources`, in the order in which they are read."""
    stages: dict[str, int]
    """Version of each stage that the result depends on. A version is increased when the results of its stage change."""


class InputChanges(NamedTuple):
    """Difference between the recorded inputs and those that a command is given."""

    differing: tuple[str, ...]
    """Descriptions of the inputs that differ."""
    missing: tuple[str, ...]
    """Recorded files that do not exist any more."""


ListFiles = Callable[[], Sequence[InputFile]]


class GivenInputs:
    """Inputs that a command is given. Their files are listed and read once, when they are first needed.

    Args:
        stages: see `RecordedInputs`.
        listings: for each option, a function that lists its files; it raises a `BitcipherError` if one is missing.
    """

    def __init__(self, stages: Mapping[str, int], listings: Mapping[str, ListFiles]):
        self._stages = stages
        self._listings = listings

    @cached_property
    def _listed(self) -> dict[str, Sequence[InputFile] | BitcipherError]:
        listed: dict[str, Sequence[InputFile] | BitcipherError] = {}
        for name, list_option in self._listings.items():
            try:
                listed[name] = list_option()
            except BitcipherError as error:
                listed[name] = error
        return listed

    def record(self) -> RecordedInputs:
        """Return the inputs to store with a result.

        Raises:
            BitcipherError: if a file is missing, or cannot be read.
        """
        files: dict[str, tuple[InputFile, ...]] = {}
        for name, listed in self._listed.items():
            if isinstance(listed, BitcipherError):
                raise listed
            files[name] = tuple(listed)
        return RecordedInputs(files=files, stages=dict(self._stages))

    def compare(self, recorded: RecordedInputs) -> InputChanges:
        """Return the difference from recorded inputs.

        Raises:
            BitcipherError: if the files of an option cannot be listed although all recorded ones exist.
        """
        differing = [
            f"{name}: version {recorded.stages.get(name)} → {self._stages.get(name)} of this stage of bitcipher"
            for name in {**recorded.stages, **self._stages}
            if recorded.stages.get(name) != self._stages.get(name)
        ]
        missing: list[str] = []
        for name in {**recorded.files, **self._listings}:
            files, listed = recorded.files.get(name, ()), self._listed.get(name, ())
            if isinstance(listed, BitcipherError):
                changes = _compare_unlisted(files, listed)
            else:
                changes = _compare_files(files, listed)
            differing += [f"{name}: {each}" for each in changes.differing]
            missing += changes.missing
        return InputChanges(tuple(differing), tuple(missing))

    def check_same(self, recorded: RecordedInputs, owner: str, advice: str, *, is_finished: bool) -> bool:
        """Return whether all recorded inputs exist and are the same; False if some are gone.

        Args:
            recorded: the inputs of the stored result.
            owner: owner of the result, the beginning of the error message.
            advice: what the user can do, the end of the error message.
            is_finished: whether the result is complete, so that it can be used without inputs that are gone.

        Raises:
            BitcipherError: if an input differs, or is gone before the result is complete.
        """
        changes = self.compare(recorded)
        if changes.differing:
            named = [*changes.differing[:_MAX_NAMED], *["…"] * (len(changes.differing) > _MAX_NAMED)]
            raise BitcipherError(f"{owner} was made from other inputs ({'; '.join(named)}): {advice}.")
        if changes.missing and not is_finished:
            self.record()  # raises what the listing says
            raise BitcipherError(f"{changes.missing[0]} is missing, and {owner} is not complete: restore the file.")
        return not changes.missing


def digest_files(uris: Iterable[str]) -> list[InputFile]:
    """Return files with the digests of their contents.

    Raises:
        BitcipherError: if a file is missing, or cannot be read.
    """
    return [InputFile(uri=uri, sha256=_sha256(uri)) for uri in uris]


def digest_folder(folder: str) -> list[InputFile]:
    """Return a file, or all files below a folder in the order of their names, with digests.

    Raises:
        BitcipherError: if there is no such file or folder, or a file cannot be read.
    """
    names = sorted(storage.list_files(folder))
    return digest_files(storage.join(folder, name) for name in names) if names else digest_files([folder])


def files_of(sources: "Iterable[Source]") -> list[InputFile]:
    """Return hashed sources as input files."""
    return [InputFile(uri=source.uri, sha256=source.sha256) for source in sources]


def _sha256(uri: str) -> str:
    from pipelines.ingest.content_hash import sha256  # not at the top, because manifests have inputs, too

    return sha256(uri)


def _compare_files(recorded: Sequence[InputFile], listed: Sequence[InputFile]) -> InputChanges:
    """Compare recorded files with the listed ones. Files that were only renamed are the same, in the same order."""
    if [file.sha256 for file in recorded] == [file.sha256 for file in listed]:
        return InputChanges((), ())
    before = {file.uri: file.sha256 for file in recorded}
    now = {file.uri: file.sha256 for file in listed}
    contents = {file.sha256 for file in recorded}
    differing = [f"{uri} has changed" for uri, digest in now.items() if uri in before and before[uri] != digest]
    differing += [f"{uri} was added" for uri, digest in now.items() if uri not in before and digest not in contents]
    present = set(now.values())
    missing = [uri for uri, digest in before.items() if uri not in now and digest not in present]
    if not differing and not missing:
        differing = ["the order or the number of files with the same contents has changed"]
    return InputChanges(tuple(differing), tuple(missing))


def _compare_unlisted(recorded: Sequence[InputFile], error: BitcipherError) -> InputChanges:
    """Compare recorded files that the command cannot list, such as those of a folder that is gone.

    Nothing is read from the network because a stored file names it, so remote files count as missing.
    """
    differing, missing = [], []
    for file in recorded:
        path = storage.local_path(file.uri)
        if path is None or not os.path.exists(path):
            missing.append(file.uri)
        elif _sha256(path) != file.sha256:
            differing.append(f"{file.uri} has changed")
    if not differing and not missing:
        raise error
    return InputChanges(tuple(differing), tuple(missing))
