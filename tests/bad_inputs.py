"""Every command with every kind of bad input.

python tests/bad_inputs.py [COMMAND ...]    # prints a table of command, input, exit code and sentence
"""

import argparse
import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

# Commands with one path that is bad (BAD), paths that are good, and a target.
COMMANDS = {
    "shard": "shard BAD --out OUT --workers 0",
    "sample": "sample BAD",
    "build": "build BAD --out OUT --workers 0",
    "build --recipe": "build --recipe BAD --out OUT",
    "build --word-list": "build TEXT --word-list BAD --out OUT --workers 0",
    "build --tokenizer": "build TEXT --tokenizer BAD --out OUT --workers 0",
    "update": "update BAD TEXT --workers 0",
    "update, sources": "update BUILD BAD --workers 0",
    "status": "status BAD",
    "prune": "prune BAD --keep 1",
    "embed": "embed BAD --out OUT",
    "embed --basis": "embed BUILD --mode spectral --basis BAD --out OUT",
    "neighbors": "neighbors BAD the",
    "explain": "explain BAD the",
    "infer": "infer BAD the --contexts TEXT",
    "infer --contexts": "infer BUILD the --contexts BAD",
    "inspect": "inspect BAD",
    "verify": "verify BAD",
    "export": "export BAD --format glove --out OUT",
    "export counts": "export BAD --format counts --out OUT",
    "explore": "explore BAD --out OUT",
    "explore --compare": "explore BUILD --compare BAD --out OUT",
    "serve": "serve BAD --port 0 --version 1",  # without a version, it would serve files of vectors
    "evaluate": "evaluate BAD --similarity PAIRS",
    "evaluate --similarity": "evaluate BUILD --similarity BAD",
    "evaluate --analogies": "evaluate BUILD --analogies BAD",
    "evaluate --pos, vectors": "evaluate BAD --pos GUM",
    "evaluate --pos": "evaluate BUILD --pos BAD",
    "study downscaling filter": "study downscaling filter BAD --vocabulary TEXT --out OUT --workers 0",
    "study downscaling filter --vocabulary": "study downscaling filter TEXT --vocabulary BAD --out OUT --workers 0",
    "study downscaling choose-tokenizer": "study downscaling choose-tokenizer BAD --kind bpe --size 300 --out OUT",
    "study downscaling choose-tokenizer --words": "study downscaling choose-tokenizer TEXT --kind bpe --size 300 "
    "--words BAD --out OUT",
    "train": "train BAD --out OUT",
    "train text": "train figure-4-random --set text.sources=[BAD] --out OUT",
    "tune": "tune BAD --search loop.batch_size=[8,16] --budget 2steps --out OUT",
    "tune text": "tune figure-4-random --set text.sources=[BAD] --search loop.batch_size=[8] --budget 2steps --out OUT",
    "study cloze-questions make": "study cloze-questions make BAD --out OUT",
    "finetune": "finetune BAD --task sst2 --data GUM --out OUT",
    "finetune grid": "finetune BAD --task sst2 --data GUM --grid seed=[1,2] --out OUT",
    "compare": "compare BAD --out OUT",
    "study class-centers layers": "study class-centers layers BAD --out OUT",
    "generate": "generate BAD --prompt the",
    "evaluate-lm pairs": "evaluate-lm pairs BAD BLIMP",
    "evaluate-lm pairs, data": "evaluate-lm pairs GUM BAD",
    "study byte-embeddings align": "study byte-embeddings align BAD --out OUT",
    "evaluate-lm prompts": "evaluate-lm prompts BAD QUESTIONS --template TEMPLATE",
    "evaluate-lm prompts data": "evaluate-lm prompts GUM BAD --template TEMPLATE",
    "evaluate-lm prompts --template": "evaluate-lm prompts GUM QUESTIONS --template BAD",
    "evaluate-lm texts": "evaluate-lm texts BAD TSV",
    "evaluate-lm texts pairs": "evaluate-lm texts GUM BAD",
    "study class-centers compare": "study class-centers compare BAD --data GUM --out OUT",
    "study class-centers sentences": "study class-centers sentences BAD LABELED --out OUT",
    "study class-centers sentences data": "study class-centers sentences GUM BAD --out OUT",
    "train pairs": "train text-pairs --set text.sources=[BAD] --out OUT",
    "sweep": "sweep BAD --out OUT",
    "study bit-cipher tables": "study bit-cipher tables BAD --pos GUM --out OUT",
    "study bit-cipher figure-4": "study bit-cipher figure-4 BAD --out OUT",
    "study bit-cipher figure-5": "study bit-cipher figure-5 BAD --pretraining TEXT --out OUT",
    "study encoders embedding-sharing": "study encoders embedding-sharing TEXT --data BAD --out OUT",
    "study encoders compare": "study encoders compare BAD --task cola --data COLA --out OUT",
    "study arabic arcd": "study arabic arcd TEXT --other TEXT --data BAD --out OUT",
    "study byte-embeddings table": "study byte-embeddings table BAD --text TEXT --out OUT",
    "study byte-embeddings table --text": "study byte-embeddings table GUM --text BAD --out OUT",
    "study downscaling laws": "study downscaling laws BAD --out OUT",
    "plan": "plan BAD",
    "plan --build": "plan --tokens 1e6 --build BAD",
}


# Name of a file, as Python decodes it from the command line.
NOT_UTF8 = os.fsdecode(b"caf\xe9.txt")


class Outcome(NamedTuple):
    """End of a command."""

    code: int
    out: str
    err: str
    error: BaseException | None
    """Exception that would give a traceback."""


def write_inputs(folder: Path) -> dict[str, Path]:
    """Write the good and the bad files. Return the bad paths by kind."""
    import labeled
    import tiny_tasks
    import user_folder

    from bitcipher.vectors.cipher_vectors import CipherVectors

    (folder / "text.txt").write_text("the cat saw a dog and the dog saw the cat\n" * 50)
    (folder / "pairs.txt").write_text("the\tcat\t3\ndog\tcat\t8\na\tthe\t5\n")
    labeled.write_gum(folder / "gum", 4)
    user_folder.write_minimal_pairs(folder / "blimp")
    user_folder.write_questions(folder)
    tiny_tasks.write_task(folder / "cola", "cola", 4)
    user_folder.write_text_pairs(folder / "pairs")
    user_folder.write_labeled_sentences(folder / "labeled.jsonl")
    options = "--min-count 1 --mode cat --window 2 --bits 4 --tokenizer whitespace --workers 0"
    for name in ("build", "truncated", "garbled"):
        built = run(["build", str(folder / "text.txt"), "--out", str(folder / name), *options.split()])
        assert built.code == 0, built
    manifest = folder / "truncated" / "versions" / "000001.json"
    manifest.write_bytes(manifest.read_bytes()[:100])
    (folder / "garbled" / "versions" / "000001.json").write_bytes(b"\x00\xff{}")
    bad = {
        "missing": folder / "missing",
        "empty file": folder / "empty.txt",
        "empty folder": folder / "nothing",
        "binary file": folder / "binary.txt",
        "unreadable file": folder / "unreadable.txt",
        "vectors": folder / "vectors.vec",
        "truncated manifest": folder / "truncated",
        "binary manifest": folder / "garbled",
        "link to nothing": folder / "link",
        "name that is not UTF-8": folder / NOT_UTF8,
    }
    (folder / "empty.txt").touch()
    (folder / "nothing").mkdir()
    (folder / "binary.txt").write_bytes(np.random.default_rng(1).bytes(3000))
    (folder / "unreadable.txt").write_text("secret\n")
    (folder / "unreadable.txt").chmod(0)
    (folder / "link").symlink_to("nowhere")
    (folder / NOT_UTF8).write_text("the cat saw a dog\n" * 50)
    CipherVectors(["cat", "dog", "the"], np.eye(3, dtype=np.float32)).export("word2vec", folder / "vectors.vec")
    if os.access(folder / "unreadable.txt", os.R_OK):  # root reads everything
        del bad["unreadable file"]
    return bad


def outcomes(
    folder: Path, command: str, bad: dict[str, Path], out: Path | None = None
) -> Iterator[tuple[str, Outcome]]:
    """Run a command with each bad path, and a target of its own if `out` is not given. Yield kind and outcome."""
    good = {"TEXT": "text.txt", "PAIRS": "pairs.txt", "GUM": "gum", "BLIMP": "blimp", "BUILD": "build"}
    good |= {"QUESTIONS": "questions.tsv", "TEMPLATE": "questions.yaml", "TSV": "pairs/test.tsv"}
    good |= {"LABELED": "labeled.jsonl", "COLA": "cola"}
    for kind, path in bad.items():
        target = out or folder / f"out-{command}-{kind}".replace(" ", "-")
        values = {name: str(folder / file) for name, file in good.items()} | {"BAD": str(path), "OUT": str(target)}
        arguments = COMMANDS[command].split()
        for name, value in values.items():
            arguments = [value if each == name else each.replace(f"[{name}]", f"['{value}']") for each in arguments]
        yield kind, run(arguments)


def run(arguments: list[str]) -> Outcome:
    """Run a command in this process."""
    from cluster.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    code, error = 0, None
    with (
        mock.patch.object(sys, "argv", ["bitcipher", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
        except BaseException as raised:
            code, error = 1, raised
    return Outcome(code, out.getvalue(), err.getvalue(), error)


def main() -> None:
    """Print the table of the given commands, or of all."""
    parser = argparse.ArgumentParser(description="Print the outcome of every command with every kind of bad input.")
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=f"default: all; any of {', '.join(COMMANDS)}")
    chosen = parser.parse_args().commands
    if unknown := set(chosen) - set(COMMANDS):
        parser.error(f"no such command: {', '.join(sorted(unknown))}")
    sys.path.insert(0, str(Path(__file__).parents[1]))  # `tests/bitcipher` would hide the package
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        bad = write_inputs(folder)
        for command in chosen or COMMANDS:
            for kind, outcome in outcomes(folder, command, bad):
                sentence = repr(outcome.error) if outcome.error else outcome.err.strip() or outcome.out.strip()
                lines = sentence.replace(temporary, "").splitlines() or [""]
                more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
                print(f"{command:<26} {kind:<20} {outcome.code}  {lines[-1]}{more}", flush=True)


if __name__ == "__main__":
    main()
