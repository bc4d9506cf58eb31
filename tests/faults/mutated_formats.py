"""Formats that bitcipher reads, with the commands that read them."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import tiny_commands
from valid_files import CAT, RESUMED, SMALL, TINY_TASK, ValidFiles

from bitcipher.formats.registry import FORMATS as VECTOR_FORMATS

Command = tuple[object, ...]


class ReadFormat(NamedTuple):
    """A format, and how commands read it."""

    make: Callable[[ValidFiles], Path]
    """Function that returns the valid file or folder."""
    files: str
    """Pattern of the files in the folder that are mutated."""
    commands: Callable[[ValidFiles, Path, Path], list[Command]]
    """Function that returns commands for a copy of the file or folder, and a folder for output."""


def _build_commands(files: ValidFiles, copy: Path, out: Path) -> list[Command]:
    return [
        ("status", copy),
        ("inspect", copy),
        ("neighbors", copy, "the"),
        ("explain", copy, "the", "king"),
        ("infer", copy, "zzz", "--contexts", files.file("sentences.txt")),
        ("export", copy, "--format", "counts", "--out", out / "counts"),
        ("embed", copy, "--out", out / "vectors"),
        ("update", copy, files.text, files.file("words.txt")),
        ("prune", copy, "--keep", 1),
    ]


def _vector_commands(files: ValidFiles, copy: Path, out: Path) -> list[Command]:
    return [
        ("neighbors", copy, "the", "king"),
        ("inspect", copy),
        ("export", copy, "--format", "glove", "--out", out / "x"),
        ("evaluate", copy, "--similarity", files.file("pairs.txt")),
        ("explain", copy, "the", "--counts", files.build()),
    ]


def _evaluate(files: ValidFiles, copy: Path, out: Path) -> list[Command]:
    return [("evaluate", copy, "--similarity", files.file("pairs.txt"))]


def _resume(files: ValidFiles, copy: Path, out: Path) -> list[Command]:
    return [
        ("status", copy),
        ("build", files.text, "--out", copy, *RESUMED),
        ("prune", copy, "--unfinished"),
    ]


def _train(files: ValidFiles, run: Path, prepared: Path) -> Command:
    settings = (*tiny_commands.SETTINGS, f"text.sources=[{files.run / 'corpus'}]")
    return ("train", "figure-4-random", "--out", run, "--prepared", prepared, *tiny_commands.arguments_of(settings))


def _run_commands(files: ValidFiles, copy: Path, out: Path) -> list[Command]:
    return [
        _train(files, copy, files.run / "prepared"),
        ("generate", copy, "--prompt", "the king", "--max-new-tokens", 2),
        ("compare", copy, "--out", out / "x"),
        ("study", "class-centers", "layers", copy, "--out", out / "y", "--classes", 5, "--sequences", 8),
    ]


def _finetune(task: str) -> ReadFormat:
    return ReadFormat(
        lambda files: files.task(task),
        "*",
        lambda files, copy, out: [
            ("finetune", files.model("roberta"), "--task", task, "--data", copy, "--out", out / "x", *TINY_TASK)
        ],
    )


def _probe(task: str) -> ReadFormat:
    return ReadFormat(
        lambda files: files.probe_data / task,
        "*",
        lambda files, copy, out: [("evaluate", files.probe_data / "labeled.txt", f"--{task}", copy, "--seeds", 1)],
    )


def _file(name: str, command: Callable[[ValidFiles, Path, Path], Command]) -> ReadFormat:
    return ReadFormat(lambda files: files.file(name), "*", lambda *arguments: [command(*arguments)])


FORMATS = {
    **{
        f"vectors: {name}": ReadFormat(lambda files, name=name: files.exported(name), "**/*", _evaluate)
        for name, each in VECTOR_FORMATS.items()
        if each.can_read
    },
    "vectors: bitcipher": ReadFormat(lambda files: files.vectors, "*", _vector_commands),
    "vectors: sentence encoder": ReadFormat(lambda files: files.encoder, "**/*", _evaluate),
    "build: mode cat": ReadFormat(lambda files: files.build(), "**/*", _build_commands),
    "build: mode spectral": ReadFormat(lambda files: files.build("spectral"), "**/*", _build_commands),
    "manifest of a build": ReadFormat(lambda files: files.build(), "versions/*.json", _build_commands),
    "tables of a version": ReadFormat(lambda files: files.build(), "versions/*/*s.parquet", _build_commands),
    "ledger and lease": ReadFormat(lambda files: files.interrupted, "le*/**/*", _resume),
    "counts of an interrupted build": ReadFormat(lambda files: files.interrupted, "shards/*", _resume),
    "document shards": ReadFormat(
        lambda files: files.documents,
        "**/*",
        lambda files, copy, out: [
            ("build", copy, "--out", out / "x", *SMALL, *CAT),
            ("shard", files.text, files.file("words.txt"), "--out", copy),
        ],
    ),
    "filtered corpus": ReadFormat(
        lambda files: files.filtered,
        "**/*",
        lambda files, copy, out: [
            (
                *("study", "downscaling", "filter"),
                files.text,
                "--vocabulary",
                files.file("words.txt"),
                "--span",
                5,
                "--stride",
                5,
                "--out",
                copy,
            )
        ],
    ),
    "list of paths": _file("list.paths", lambda files, copy, out: ("build", copy, "--out", out / "x", *SMALL, *CAT)),
    "contexts": _file("sentences.txt", lambda files, copy, out: ("infer", files.build(), "zzz", "--contexts", copy)),
    "similarity": _file("pairs.txt", lambda files, copy, out: ("evaluate", files.vectors, "--similarity", copy)),
    "analogies": _file("questions.txt", lambda files, copy, out: ("evaluate", files.vectors, "--analogies", copy)),
    "word list": _file(
        "words.txt",
        lambda files, copy, out: ("build", files.text, "--word-list", copy, *SMALL[:2], *CAT, "--out", out / "x"),
    ),
    "word frequencies": _file(
        "words.csv",
        lambda files, copy, out: (
            *("study", "downscaling", "filter"),
            files.text,
            "--vocabulary",
            copy,
            "--top",
            20,
            "--span",
            5,
            "--stride",
            5,
            "--out",
            out / "x",
        ),
    ),
    "recipe of a build": _file("build.yaml", lambda files, copy, out: ("build", "--recipe", copy, "--out", out / "x")),
    "recipe, mode spectral": _file(
        "spectral.yaml", lambda files, copy, out: ("build", "--recipe", copy, "--out", out / "x")
    ),
    "recipe of shards": _file(
        "pipelines/recipes/shard/wikipedia.yaml",
        lambda files, copy, out: ("shard", files.text, "--recipe", copy, "--out", out / "x"),
    ),
    # The sources do not exist, because some mutations are valid recipes of runs that take days.
    "recipe of a run": _file(
        "training/studies/bit_cipher/recipes/figure-4-random.yaml",
        lambda files, copy, out: ("train", copy, "--out", out / "x", "--set", f"text.sources=[{out}/nosuch.txt]"),
    ),
    "recipe of a study": _file(
        "training/studies/downscaling/sweep/recipes/downscaling-small.yaml",
        lambda files, copy, out: ("sweep", copy, "--out", out / "x", "--set", f"sources=[{out}/nosuch.txt]"),
    ),
    "prompts": _file(
        "prompts.yaml",
        lambda files, copy, out: (
            *("generate", files.model("gpt2"), "--prompts", copy),
            *("--shots", 1, "--max-new-tokens", 2),
        ),
    ),
    "words and sub-tokens": _file(
        "pieces.yaml",
        lambda files, copy, out: (
            *("study", "downscaling", "choose-tokenizer", files.text, "--words", copy),
            *("--out", out / "x", "--kind", "bpe", "--size", 300),
        ),
    ),
    "tokenizer.json": ReadFormat(
        lambda files: files.model("gpt2") / "tokenizer.json",
        "*",
        lambda files, copy, out: [
            ("build", files.text, "--tokenizer", copy, "--mode", "cat", "--bits", 8, "--out", out / "x")
        ],
    ),
    "model": ReadFormat(
        lambda files: files.model("gpt2"),
        "*",
        lambda files, copy, out: [("generate", copy, "--prompt", "the", "--max-new-tokens", 2)],
    ),
    "model to fine-tune": ReadFormat(
        lambda files: files.model("roberta"),
        "*",
        lambda files, copy, out: [
            ("finetune", copy, "--task", "cola", "--data", files.task("cola"), "--out", out / "x", *TINY_TASK)
        ],
    ),
    "training run": ReadFormat(lambda files: files.run / "run", "**/*", _run_commands),
    "prepared text": ReadFormat(
        lambda files: files.run / "prepared",
        "**/*",
        lambda files, copy, out: [_train(files, out / "x", copy)],
    ),
    **{f"task: {name}": _finetune(name) for name in ("cola", "stsb", "squad", "squad2", "entities")},
    "probe: GUM": _probe("pos"),
    "probe: CoNLL-2003": _probe("ner"),
}
