"""Train a GPT-2 of 124 million parameters on a GPU, and print the median tokens per second of a way as JSON.

train_gpt2.py prepare FOLDER SOURCE…                  writes token shards of texts, and nanoGPT's copy of the tokens
train_gpt2.py ours FOLDER STEPS [NAME=VALUE…]         our loop, with settings of `bitcipher train`
train_gpt2.py trainer FOLDER STEPS                    transformers' Trainer
train_gpt2.py nanogpt FOLDER STEPS CHECKOUT           train.py of a checkout of nanoGPT, unchanged

All have 12 layers, hidden size 768, inner size 3,072, 1,024 positions, 50,304 tokens, batches of 32 sequences,
bfloat16, fused AdamW, clipping and torch.compile. None evaluates or saves while it is measured. The FLOPs per token are
those of `training.models.flops.training_flops`, and the peak is that of the GPU's data sheet.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch

from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.token_streams import Sequences, TokenDataset
from training.loop.metrics_logger import read_metrics
from training.loop.utilization import peak_of
from training.models.build import build_model
from training.models.flops import training_flops
from training.runs.prepare.text import prepare_text
from training.runs.pretraining_run import run_pretraining
from training.runs.recipe import Recipe, read_recipe

RECIPE = """
text: {validation_fraction: 0.02, tokenizer: {kind: bpe, vocab_size: 50304, sample_fraction: 0.2}}
model:
  architecture: gpt2
  num_hidden_layers: 12
  hidden_size: 768
  num_attention_heads: 12
  intermediate_size: 3072
  max_position_embeddings: 1024
  dropout: 0.0
objective: {name: causal}
loop: {batch_size: 32, learning_rate: 6.0e-4, logging_steps: 10, eval_sequences: 32, report_to: [], compile: true}
"""
WINDOW = 10
# Number of windows that are not measured, because of compilation.
WARM_UP = 2


def recipe_of(folder: Path, settings: list[str]) -> Recipe:
    """Return the recipe with settings."""
    path = folder / "gpt2.yaml"
    path.write_text(RECIPE, "utf-8")
    return read_recipe(str(path), settings)


def prepare(folder: Path, sources: list[str]) -> None:
    """Write token shards of texts, and their tokens as nanoGPT reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    with open_runtime(0) as runtime:
        text = recipe_of(folder, [f"text.sources={json.dumps(sources)}"]).text
        shards = prepare_text(text, str(folder / "prepared"), runtime, StageProgress())
    (folder / "text").symlink_to(Path(shards).relative_to(folder))
    dataset = TokenDataset.open(shards)
    for name, stream in (("train", dataset.train), ("val", dataset.validation)):
        Sequences(stream, len(stream)).take(np.zeros(1, np.int64)).astype(np.uint16).tofile(folder / f"{name}.bin")


def ours(folder: Path, steps: int, *settings: str) -> float:
    """Train with our loop, and return the tokens per second of its metrics."""
    recipe = recipe_of(folder, [*settings, f"loop.max_steps={steps}", f"loop.eval_steps={steps}"])
    with tempfile.TemporaryDirectory() as run:
        values = {"recipe": recipe.to_dict(), "text": str(folder / "text"), "vectors": None, "folder": run}
        run_pretraining(values)
        rates = [line["tokens_per_second"] for line in read_metrics(Path(run)) if "tokens_per_second" in line]
    return median(rates[WARM_UP:])


def trainer(folder: Path, steps: int) -> float:
    """Train with transformers' Trainer, and return its tokens per second."""
    from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments, default_data_collator

    recipe, text = recipe_of(folder, []), TokenDataset.open(str(folder / "text"))
    length, batch = recipe.model.max_position_embeddings, recipe.loop.batch_size
    model = build_model(recipe.model, special_tokens(text.tokenizer), vocab_size(text.tokenizer), 1)
    sequences = Sequences(text.train, length)
    rows = [{"input_ids": row, "labels": row} for row in sequences.take(np.arange(steps * batch) % len(sequences))]
    times: list[float] = []

    class Clock(TrainerCallback):
        def on_step_end(self, arguments: object, state: object, *_: object, **__: object) -> None:
            if state.global_step % WINDOW == 0:
                torch.cuda.synchronize()
                times.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as run:
        arguments = TrainingArguments(
            run,
            per_device_train_batch_size=batch,
            max_steps=steps,
            learning_rate=recipe.loop.learning_rate,
            max_grad_norm=recipe.loop.max_grad_norm,
            optim="adamw_torch_fused",
            bf16=True,
            torch_compile=True,
            dataloader_num_workers=4,
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        )
        peer = Trainer(model, arguments, data_collator=default_data_collator, train_dataset=rows, callbacks=[Clock()])
        peer.remove_callback(PrinterCallback)  # stdout must have only the line of JSON
        peer.train()
    return median(WINDOW * batch * length / np.diff(times)[WARM_UP - 1 :])


def nanogpt(folder: Path, steps: int, checkout: str) -> float:
    """Train with nanoGPT's train.py, and return the tokens per second of the times that it prints."""
    recipe = recipe_of(folder, [])
    length, batch = recipe.model.max_position_embeddings, recipe.loop.batch_size
    values = {"dataset": folder.absolute(), "batch_size": batch, "gradient_accumulation_steps": 1, "bias": True}
    values |= {"max_iters": steps, "eval_interval": 10**9, "eval_iters": 1, "out_dir": folder.absolute() / "nanogpt"}
    arguments = [f"--{name}={value}" for name, value in values.items()]
    command = [sys.executable, "train.py", *arguments]
    output = subprocess.run(command, cwd=checkout, check=True, capture_output=True, text=True).stdout
    times = [float(match) / 1000 for match in re.findall(r"iter \d+: .* time ([\d.]+)ms", output)]
    return batch * length / median(times[WARM_UP * WINDOW :])


WAYS: dict[str, Callable[..., float]] = {"ours": ours, "trainer": trainer, "nanogpt": nanogpt}


def main() -> None:
    """Run the command."""
    way, folder, *rest = sys.argv[1:]
    if way == "prepare":
        prepare(Path(folder), rest)
        return
    rate = WAYS[way](Path(folder), int(rest[0]), *rest[1:])
    recipe, text = recipe_of(Path(folder), []), TokenDataset.open(str(Path(folder, "text")))
    model = build_model(recipe.model, special_tokens(text.tokenizer), vocab_size(text.tokenizer), 1)
    length = recipe.model.max_position_embeddings
    flops = training_flops(model.config, length, length) / length
    peak = peak_of(torch.cuda.get_device_name())
    utilization = round(rate * flops / peak, 3) if peak else None
    memory = round(torch.cuda.max_memory_allocated() / 2**30, 1)  # of this process, which is not nanoGPT's
    print(json.dumps({"way": way, "tokens_per_second": round(rate), "utilization": utilization, "gib": memory}))


if __name__ == "__main__":
    main()
