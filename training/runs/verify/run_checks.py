"""Checks of the files of training runs, studies and token shards. This module does not import torch."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.file_digests import DIGESTS, FolderDigests, check_digest, digest_file
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.runtime import Runtime
from pipelines.verify.damage import Check, Damage, KnownDamage, error_of
from pipelines.verify.verify import VerifyResult, run_checks
from training.data.pair_folder import METADATA as PAIRS
from training.data.pair_folder import TRAIN, VALIDATION, check_stored_pairs
from training.data.token_files import check_token_file, token_hashes
from training.evaluation.text_pairs.scores import SCORES
from training.loop.checkpoint_folders import checkpoint_names, find_move
from training.loop.file_names import CHECKPOINTS, EMBEDDING_INIT, ENDED, METRICS, TOKENIZER
from training.loop.file_names import CONFIG as PRETRAINING
from training.loop.file_names import INPUTS as RECORDED
from training.loop.metrics_logger import read_metrics
from training.loop.run_store import copying_run
from training.loop.stop_request import RUN_LEASE
from training.loop.trackers.base import TRACKER_IDS
from training.runs.prepare.cached_dir import INPUTS
from training.runs.verify.training_folders import GRID, TOKEN_SHARDS, TUNE, find_training_folders, study_files
from training.tasks.finetuning.run_files import CONFIG as FINETUNING
from training.tasks.finetuning.run_files import PREDICTIONS, TASK_INFO

_RESTORE = "restore the file from a copy"
_AGAIN = "It is written again when the command of the run is run again."
# Written by `bitcipher tune` and `bitcipher finetune --grid`.
RESULTS = "trials.json"
# Advice for each JSON file of a run, a study, a search or a grid.
_JSON_FILES = {
    PRETRAINING: "It holds the inputs of the run: restore it from a copy.",
    FINETUNING: "It holds the inputs of the run: restore it from a copy.",
    TUNE: "It holds the options of the search: run its command again to write it.",
    GRID: "It holds the options of the grid: run its command again to write it.",
    ENDED: "It holds the end of a trial: remove it, and run the command of the study, search or grid again.",
    RESULTS: _AGAIN,
    TASK_INFO: _AGAIN,
    PREDICTIONS: _AGAIN,
    EMBEDDING_INIT: _AGAIN,
    TRACKER_IDS: "It holds the ids of the run in trackers: remove it to go on in new ones.",
    SCORES: _AGAIN,
}


@dataclass(frozen=True)
class CallCheck:
    """Check of a file by a function that raises a `BitcipherError` if the file is damaged."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    advice: str
    size: int

    def find_damage(self) -> list[Damage]:
        """Return the file if it is damaged."""
        sentence = error_of(self.function, *self.arguments)
        return [Damage(sentence, self.advice)] if sentence else []


def verify_training(folder: str, runtime: Runtime, progress: StageProgress) -> VerifyResult:
    """Read all files of training runs and of the text that they were trained on, and return those that are damaged.

    Args:
        folder: path or URI of a run, a study, a search, a grid, or token shards.
        runtime: runtime of the checks.
        progress: progress bars.

    Raises:
        BitcipherError: if the folder cannot be listed.
    """
    folder = storage.absolute(folder).rstrip("/")
    folders = find_training_folders(folder)
    runs = [_RunText.of(each) for each in folders]
    candidates = {path for path in (*folders, *(run.text for run in runs)) if path}
    texts = {path for path in candidates if storage.exists(storage.join(path, TOKEN_SHARDS))}
    recorded = {run.text for run in runs if run.has_inputs}
    checks = [check for each in folders for check in _run_checks(each)]
    checks += [check for each in sorted(texts) for check in _text_checks(each, each in recorded)]
    kinds = dict.fromkeys(study_files(), "study") | {TUNE: "search", GRID: "grid", TOKEN_SHARDS: "token shards"}
    kind = next((kinds[name] for name in kinds if storage.exists(storage.join(folder, name))), "training run")
    return run_checks(kind, checks, runtime, progress)


class _RunText(NamedTuple):
    """Text of a run."""

    text: str | None
    """Folder of its token shards, or None if the folder is not a run, or `run.json` is damaged."""
    has_inputs: bool
    """Whether the run has recorded its inputs."""

    @classmethod
    def of(cls, folder: str) -> "_RunText":
        """Return the text of the run in a folder."""
        try:
            config = json_files.read(storage.join(folder, PRETRAINING))
        except BitcipherError:
            return cls(None, False)
        text = config.get("text")
        return cls(text if isinstance(text, str) else None, config.get(RECORDED) is not None)


def _run_checks(folder: str) -> Iterator[Check]:
    """Yield the checks of a run, a study, a search or a grid."""
    sizes = storage.list_files(folder)
    of_study = dict.fromkeys(study_files(), "It holds the options of the study: restore it from a copy.")
    for name, advice in (_JSON_FILES | of_study).items():
        if name in sizes:
            yield CallCheck(json_files.verify, (storage.join(folder, name),), advice, sizes[name])
    for name, size in sizes.items():
        if name.startswith(f"{RUN_LEASE}/") and name.endswith(".json"):
            advice = "It holds the last job in the folder: remove it."
            yield CallCheck(json_files.verify, (storage.join(folder, name),), advice, size)
    checkpoints = [storage.join(folder, CHECKPOINTS, name) for name in checkpoint_names(folder)]
    if not (checkpoints or METRICS in sizes):  # nothing was trained yet, or the folder is that of a study
        return
    yield from _digest_checks(folder, _AGAIN)
    for checkpoint in checkpoints:
        yield CallCheck(_check_tokenizer, (folder, checkpoint), f"Restore {folder}/{TOKENIZER} from a copy.", 0)
        yield from _digest_checks(checkpoint, f"Remove {checkpoint} to use an older checkpoint, or {_RESTORE}.")
    advice = "It holds the metrics of the run, which a resumed run continues."
    yield CallCheck(_check_metrics, (folder,), advice, sizes.get(METRICS, 0))


def _check_tokenizer(folder: str, checkpoint: str) -> None:
    """Check that the tokenizer of a run is the one that the weights of a checkpoint were trained with.

    Checkpoints of earlier versions of bitcipher have no tokenizer.
    """
    uri = storage.join(checkpoint, DIGESTS)
    trained_with = FolderDigests.read(uri).files.get(TOKENIZER) if storage.exists(uri) else None
    if trained_with is not None and digest_file(storage.join(folder, TOKENIZER)) != trained_with:
        raise BitcipherError(
            f"{storage.join(folder, TOKENIZER)} is not the tokenizer that {checkpoint} was trained with."
        )


def _check_metrics(folder: str) -> None:
    with copying_run(folder) as copy:
        read_metrics(copy)


def _digest_checks(folder: str, advice: str) -> Iterator[Check]:
    """Yield the checks of the files of a folder whose digests are stored."""
    path = storage.join(folder, DIGESTS)
    content = storage.read_bytes(path)
    yield CallCheck(json_files.verify, (path,), advice, len(content or b""))
    try:
        digests = FolderDigests.read(path)
    except BitcipherError:
        return
    # Only checkpoints have a step.
    if digests.step is not None and (sentence := find_move(folder, digests.step)):
        yield KnownDamage(sentence, advice)
    for name, digest in digests.files.items():
        yield CallCheck(check_digest, (storage.join(folder, name), digest, _RESTORE), advice, digest.size)


def _text_checks(folder: str, has_inputs: bool) -> Iterator[Check]:
    """Yield the checks of token shards.

    Args:
        folder: path or URI of the token shards.
        has_inputs: whether they are of a run whose inputs are recorded. Then theirs are, too, unless they are pairs,
            which can be of an earlier version.
    """
    advice = f"Remove {folder}, and run the command of the run again to write it, or {_RESTORE}."
    sizes = storage.list_files(folder)
    path = storage.join(folder, TOKEN_SHARDS)
    yield CallCheck(json_files.verify, (path,), advice, sizes.get(TOKEN_SHARDS, 0))
    try:
        hashes = token_hashes(folder)
    except BitcipherError as error:
        yield KnownDamage(str(error), advice)
        return
    for file, sha256 in hashes.items():
        yield CallCheck(check_token_file, (file, sha256), advice, sizes.get(file.rpartition("/")[2], 0))
    if INPUTS in sizes or (has_inputs and PAIRS not in sizes):
        yield CallCheck(json_files.verify, (storage.join(folder, INPUTS),), advice, sizes.get(INPUTS, 0))
    if PAIRS in sizes:
        yield CallCheck(json_files.verify, (storage.join(folder, PAIRS),), advice, sizes[PAIRS])
        for name in (TRAIN, VALIDATION):
            yield CallCheck(check_stored_pairs, (folder, name), advice, sizes.get(name, 0))
