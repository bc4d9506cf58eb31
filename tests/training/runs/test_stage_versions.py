"""Results of fixed inputs at each stage: if one changes, the version of its stage must be increased.

Results are used again only if the versions of their stages are the same. Texts are compared byte for byte, and floats
up to rounding, which depends on the processor. The counts are in `tests/pipelines/store/test_fingerprint.py`.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import tiny_tasks
import torch
from builds import OPTIONS, run_build
from document_shards import make_shards, texts_in
from labeled import TAGS, informative_vectors, write_gum
from tiny_pairs import tiny_pairs
from tiny_prepared import recipe_of, text_of, written
from tiny_runs import config_of, write_tiny_text

from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.embed.embed_counts import EMBEDDING_VERSION
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.shard.options import SHARDS_VERSION
from training.evaluation.probes.fit import PROBE_VERSION
from training.evaluation.probes.probe_scores import probe
from training.evaluation.probes.tasks import read_pos
from training.runs.prepare.examples import prepare_examples
from training.runs.prepare.pairs import PAIRS_VERSION
from training.runs.prepare.recipe_inputs import TRAINING_VERSION
from training.runs.prepare.text import TEXT_VERSION
from training.runs.pretraining_run import run_pretraining
from training.runs.recipe import Recipe
from training.studies.byte_embeddings.alignment import align
from training.studies.byte_embeddings.options import AlignmentOptions
from training.studies.byte_embeddings.stored_embeddings import ALIGNMENT_VERSION
from training.tasks.finetuning.finetuning_run import run_finetuning
from training.tasks.finetuning.options import make_finetune_options
from training.tasks.finetuning.run_inputs import FINETUNING_VERSION

pytestmark = pytest.mark.usefixtures("one_thread")

# Version of each stage, and a result that it gives.
GOLDEN = {
    "text": (4, "daaa55e155213bfa"),
    "pairs": (1, "f8f5581cda2eeb54"),
    "shards": (2, "27031b569464dcd1"),
    "vectors, spectral": (1, [0.99994, 0.99977, 0.97665, 0.87200]),
    "vectors, cat": (1, [-0.07256, -0.16108, -0.00163, -0.07648]),
    "training, causal": (1, [5.71723, 5.68432]),
    "training, masked": (1, [6.24463, 6.19995]),
    "finetuning": (1, [0.69453]),
    "alignment": (1, [0.99752, 0.83162, 0.79930]),
    "probe": (1, [0.92, 0.91943]),
}
# A float can differ by rounding, and an accuracy by a few words.
TOLERANCES = {"probe": 0.02}
SHORT = {"max_steps": 3, "batch_size": 4, "eval_steps": 3, "save_steps": 3, "eval_sequences": 8, "device": "cpu"}


def text_digest(folder: Path) -> str:
    """Return the digest of the tokenizer and the tokens of prepared text."""
    names = sorted(path for path in folder.iterdir() if path.suffix == ".tokens" or path.name == "tokenizer.json")
    return hashlib.sha256(b"".join(path.read_bytes() for path in names)).hexdigest()[:16]


def text_result(folder: Path) -> str:
    return text_digest(text_of(recipe_of(written(folder / "corpus")), folder / "prepared"))


def pairs_result(folder: Path) -> str:
    lines = [json.dumps({"source": source, "target": target}) for source, target in tiny_pairs()]
    (folder / "pairs.jsonl").write_text("\n".join(lines) + "\n")
    text = {"sources": [str(folder / "pairs.jsonl")], "tokenizer": {"vocab_size": 300}, "validation_fraction": 0.2}
    sizes = {"num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 1, "intermediate_size": 8}
    model = {"architecture": "t5", "max_position_embeddings": 16, **sizes}
    recipe = Recipe.parse({"text": text, "model": model, "objective": {"name": "text_pairs"}}, "test")
    made = prepare_examples(recipe, str(folder / "prepared"), InProcessRuntime(), StageProgress())
    return text_digest(Path(made))


def shards_result(folder: Path) -> str:
    corpus = written(folder / "corpus")
    rules = [{"rule": "unicode"}, {"rule": "length", "min_words": 5}]
    make_shards(folder / "shards", corpus, rules=rules)
    return hashlib.sha256("\n".join(texts_in(folder / "shards")).encode()).hexdigest()[:16]


def vectors_result(folder: Path, **options: object) -> list[float]:
    run_build([written(folder / "corpus")], folder / "build", OPTIONS.derive({"min_count": 1, **options}))
    vectors = CipherVectors.load(folder / "build")
    # Cosines do not depend on the signs of axes.
    pairs = (("cat", "dog"), ("sees", "likes"), ("the", "my"), ("old", "aunt."))
    return [float(vectors.similarity(*pair)) for pair in pairs]


def training_result(folder: Path, objective: str, architecture: str) -> list[float]:
    text = write_tiny_text(folder / "text")
    config = config_of(
        folder / "run", text, model={"architecture": architecture}, objective={"name": objective}, loop=SHORT
    )
    run_pretraining(config)
    lines = map(json.loads, (folder / "run" / "metrics.jsonl").read_text().splitlines())
    return [line["validation_loss"] for line in lines if "validation_loss" in line]


def finetuning_result(folder: Path) -> list[float]:
    values = {"model": str(tiny_tasks.write_model(folder / "model")), "task": "cola"}
    values |= {"data": str(tiny_tasks.write_task(folder / "cola", "cola", 40)), "num_train_epochs": None}
    options = make_finetune_options({**values, "loop": {"max_steps": 4, "eval_steps": 4, "device": "cpu"}})
    run = folder / "run"
    run.mkdir()
    run_finetuning({"options": options.to_dict(), "folder": str(run)})
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [line["validation_loss"] for line in lines if "validation_loss" in line]


def alignment_result(folder: Path) -> list[float]:
    tokens = [f"{stem}{ending}" for stem in ("walk", "talk", "jump", "work") for ending in ("", "s", "ed", "ing")]
    table = torch.from_numpy(np.random.default_rng(3).normal(size=(len(tokens), 12)).astype(np.float32))
    losses: list[float] = []
    align(table, tokens, AlignmentOptions(size="small", epochs=3, batch_size=8, device="cpu"), losses.append)
    return losses


def probe_result(folder: Path) -> list[float]:
    task = read_pos(str(write_gum(folder / "gum", 40)))
    result = probe(informative_vectors(TAGS), task, (0,))
    return [result.mean("accuracy"), result.mean("weighted_f1")]


STAGES = {
    "text": (TEXT_VERSION, text_result),
    "pairs": (PAIRS_VERSION, pairs_result),
    "shards": (SHARDS_VERSION, shards_result),
    "vectors, spectral": (
        EMBEDDING_VERSION,
        lambda folder: vectors_result(folder, mode="spectral", vector_size=4, spelling_share=0.5),
    ),
    "vectors, cat": (EMBEDDING_VERSION, lambda folder: vectors_result(folder, mode="cat", bits=6, window=2)),
    "training, causal": (TRAINING_VERSION, lambda folder: training_result(folder, "causal", "gpt2")),
    "training, masked": (TRAINING_VERSION, lambda folder: training_result(folder, "masked", "modernbert")),
    "finetuning": (FINETUNING_VERSION, finetuning_result),
    "alignment": (ALIGNMENT_VERSION, alignment_result),
    "probe": (PROBE_VERSION, probe_result),
}


@pytest.mark.parametrize("stage", STAGES)
def test_results_of_a_fixed_input_change_with_the_version_of_their_stage_only(stage, tmp_path):
    version, compute = STAGES[stage]
    expected_version, expected = GOLDEN[stage]
    result = compute(tmp_path)
    assert version == expected_version, "Update GOLDEN."
    if not isinstance(expected, str):
        expected = pytest.approx(expected, abs=TOLERANCES.get(stage, 2e-3))
    assert result == expected, f"Increase the version of the stage {stage}, and update GOLDEN."
