"""Train a small RoBERTa with our loop or transformers' Trainer, and print the cost per step as JSON.

train_roberta.py prepare TEXT FILE…         writes token shards of files to a new folder TEXT
train_roberta.py ours|trainer TEXT STEPS    prints the median CPU seconds and wall seconds of a step

Both have the same configuration, batch size, share of masked tokens, optimizer, clipping and number of threads. Neither
evaluates or saves. The first steps are not measured.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.token_shards import finish_dataset, write_shard
from training.data.token_streams import Sequences, TokenDataset
from training.data.train_tokenizer import train_tokenizer
from training.loop.distributed import World
from training.loop.optimizer import FreezeSchedule
from training.loop.options import LoopOptions
from training.loop.training_run import TrainingRun, run_loop
from training.models.build import build_model
from training.models.embeddings.options import EmbeddingInitOptions
from training.models.options import ModelOptions
from training.objectives.base import TextExamples
from training.objectives.masked import MaskedLM

MODEL = ModelOptions(
    architecture="roberta",
    num_hidden_layers=4,
    hidden_size=256,
    num_attention_heads=4,
    intermediate_size=1024,
    max_position_embeddings=128,
)
BATCH = 32
VOCABULARY = 19_000  # as in the downscaling study
WARM_UP_STEPS = 5
SEED = 1


def prepare(folder: str, files: list[str]) -> None:
    """Write the lines of files as a token dataset, and its tokenizer."""
    documents = [line for file in files for line in Path(file).read_text("utf-8").split("\n")]
    tokenizer = train_tokenizer(documents, "bpe", VOCABULARY)
    finish_dataset(folder, [write_shard(folder, "all", documents, tokenizer, 0.02)], tokenizer)


class Clock:
    """Records the time of each step."""

    def __init__(self) -> None:
        self._cpu, self._wall = [time.process_time()], [time.perf_counter()]

    def tick(self, *_: object) -> None:
        """Record the end of a step."""
        self._cpu.append(time.process_time())
        self._wall.append(time.perf_counter())

    def medians(self) -> dict[str, float]:
        """Return medians of the measured steps, in seconds."""
        cpu, wall = (median(np.diff(times)[WARM_UP_STEPS:]) for times in (self._cpu, self._wall))
        return {"cpu": cpu, "wall": wall, "tokens": BATCH * MODEL.max_position_embeddings}


def ours(text: TokenDataset, steps: int) -> dict[str, float]:
    """Train with training.loop."""
    tokens, vocabulary = special_tokens(text.tokenizer), vocab_size(text.tokenizer)
    options = LoopOptions(
        max_steps=steps, batch_size=BATCH, logging_steps=1, eval_steps=steps, eval_sequences=1, save_steps=steps
    )
    examples = TextExamples(text, MaskedLM(), MODEL.max_position_embeddings, SEED, tokens, vocabulary, None)
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        model = build_model(MODEL, tokens, vocabulary, SEED)
        table = FreezeSchedule(EmbeddingInitOptions())
        run = TrainingRun(
            model, MaskedLM(), examples, options, table, SEED, Path(folder), BATCH * MODEL.max_position_embeddings
        )
        run_loop(run, World.current("cpu"), clock.tick)
    return clock.medians()


def trainer(text: TokenDataset, steps: int) -> dict[str, float]:
    """Train with transformers' Trainer and its collator for masked language models."""
    from transformers import (
        DataCollatorForLanguageModeling,
        PreTrainedTokenizerFast,
        PrinterCallback,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    tokens, vocabulary = special_tokens(text.tokenizer), vocab_size(text.tokenizer)
    names = {name: text.tokenizer.id_to_token(getattr(tokens, name)) for name in ("pad", "unknown", "mask")}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=text.tokenizer,
        pad_token=names["pad"],
        unk_token=names["unknown"],
        mask_token=names["mask"],
    )
    sequences = Sequences(text.train, MODEL.max_position_embeddings)
    rows = [{"input_ids": row} for row in sequences.take(np.arange(steps * BATCH) % len(sequences))]
    clock = Clock()

    class Tick(TrainerCallback):
        def on_step_end(self, *_: object, **__: object) -> None:
            clock.tick()

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            per_device_train_batch_size=BATCH,
            max_steps=steps,
            learning_rate=1e-3,
            max_grad_norm=1.0,
            optim="adamw_torch_fused",
            use_cpu=True,
            report_to=[],
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            seed=SEED,
        )
        peer = Trainer(
            build_model(MODEL, tokens, vocabulary, SEED),
            arguments,
            data_collator=DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15),
            train_dataset=rows,
            callbacks=[Tick()],
        )
        # stdout must have only the line of JSON.
        peer.remove_callback(PrinterCallback)
        peer.train()
    return clock.medians()


WAYS: dict[str, Callable[[TokenDataset, int], dict[str, float]]] = {"ours": ours, "trainer": trainer}

if __name__ == "__main__":
    way, folder, *rest = sys.argv[1:]
    if way == "prepare":
        prepare(folder, rest)
    else:
        print(json.dumps(WAYS[way](TokenDataset.open(folder), int(rest[0]))))
