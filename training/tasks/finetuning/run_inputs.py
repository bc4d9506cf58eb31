"""Inputs of a fine-tuning run: the model and the files of the task, with their digests.

This module is imported to check options, so it does not import torch.
"""

from collections.abc import Iterable

from pipelines.store.recorded_inputs import GivenInputs, InputFile, ListFiles, digest_files
from training.loop.checkpoint_folders import resolve_model_folder
from training.models.embeddings.vector_inputs import vectors_listing
from training.models.model_folder import list_model_files
from training.tasks.finetuning.options import FinetuneOptions
from training.tasks.finetuning.task_files import find_tokenizer, list_task_files

# Increase this number when the same options, model and task give another model or other scores. A test compares the
# scores of small runs, and fails after such a change.
FINETUNING_VERSION = 1


def finetuning_inputs(options: FinetuneOptions) -> GivenInputs:
    """Return the inputs of a fine-tuning run."""

    def list_model() -> list[InputFile]:
        folder = resolve_model_folder(options.model, options.step)
        return digest_files([*list_model_files(folder), find_tokenizer(options.model)])

    listings: dict[str, ListFiles] = {
        "model": list_model,
        "data": lambda: digest_files(list_task_files(options.task, options.data)),
    }
    if (vocabulary := options.vocabulary) is not None:
        listings["vocabulary"] = lambda: digest_files([vocabulary])
    if options.embeddings.vectors is not None:
        listings["embeddings.vectors"] = vectors_listing(options.embeddings.vectors)
    return GivenInputs({"finetuning": FINETUNING_VERSION}, listings)


def inputs_of_runs(runs: Iterable[FinetuneOptions]) -> list[GivenInputs]:
    """Return the inputs of each run. Runs of the same files share them, so that they are read once."""
    shared: dict[tuple[object, ...], GivenInputs] = {}
    return [
        shared.setdefault(
            (each.model, each.step, each.task, each.data, each.vocabulary, each.embeddings.vectors),
            finetuning_inputs(each),
        )
        for each in runs
    ]
