"""Training runs in a store: a recipe, the wait for a checkpoint, and the comparison with a run on a disk."""

import json
import time
from pathlib import Path

import yaml
from commands import Command
from tiny_runs import RECIPE, curve_of, tiny_documents

from bitcipher.files import storage
from bitcipher.files.file_digests import digest_file
from training.loop.checkpoint_folders import checkpoint_names
from training.loop.run_store import copying_run
from training.loop.stop_request import RUN_LEASE

STEPS = {"max_steps": 120, "eval_steps": 20, "save_steps": 20, "micro_batch_size": 4, "save_total_limit": 2}
THREADS = {"OMP_NUM_THREADS": "1"}
_NAMES = ("model.safetensors", "optimizer.safetensors")


def write_recipe(folder: Path, store: str) -> Path:
    """Write a recipe whose text is in the store, and return its path."""
    for number in range(2):
        lines = "\n".join(tiny_documents()[number::2])
        storage.write_bytes(f"{store}/corpus/{number}.txt", lines.encode())
    text = {"sources": [f"{store}/corpus/"], "validation_fraction": 0.2, "tokenizer": {"vocab_size": 300}}
    folder.mkdir()
    embeddings = {"init": "cipher", "build": {"mode": "sum", "bits": 16}}
    recipe = {**RECIPE, "text": text, "embeddings": embeddings, "loop": RECIPE["loop"] | STEPS}
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    return folder / "recipe.yaml"


def check_equal(uri: str, folder: Path) -> None:
    """Check that a run in a store has the metrics and checkpoints of one on the disk."""
    with copying_run(uri) as copy:
        assert curve_of(copy) == curve_of(folder)
    steps = checkpoint_names(uri)
    assert steps == checkpoint_names(str(folder)) == ["00000100", "00000120"]
    for name in (f"checkpoints/{step}/{name}" for step in steps for name in _NAMES):
        assert digest_file(f"{uri}/{name}") == digest_file(str(folder / name)), name


def wait_for_checkpoint(uri: str, command: Command) -> None:
    """Wait until a run has a checkpoint."""
    while command.is_running and not checkpoint_names(uri):
        time.sleep(0.1)
    assert command.is_running, command.error_output()


def driver_of(uri: str) -> int:
    """Return the process that holds the lease of a run or a study."""
    newest = max(storage.list_files(f"{uri}/{RUN_LEASE}"))
    return json.loads(storage.read_bytes(f"{uri}/{RUN_LEASE}/{newest}") or b"")["pid"]
