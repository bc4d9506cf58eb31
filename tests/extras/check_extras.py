"""Install each extra of bitcipher alone, from a wheel, and run its commands.

    .venv/bin/python tests/extras/check_extras.py                      # all extras: about fifteen minutes
    .venv/bin/python tests/extras/check_extras.py none pipelines       # what CI runs

Every extra gets a new virtual environment with the versions of constraints.txt. Commands of other extras must fail with
one sentence that names the extra to install.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
WORDS = "the cat and the dog saw a bird near the old house while two children sang of the sea".split()

RECIPE = """
text: {sources: [corpus], validation_fraction: 0.1, tokenizer: {kind: bpe, vocab_size: 300}}
model: {architecture: gpt2, num_hidden_layers: 1, hidden_size: 16, num_attention_heads: 2, max_position_embeddings: 16}
objective: {name: causal}
loop: {max_steps: 4, batch_size: 4, eval_steps: 2, eval_sequences: 4}
"""

QUERY = ("neighbors books cat", "inspect books", "explain books cat dog", "export books --format glove --out books.txt")
PAIRS = "--set text.sources=[pairs.tsv] --set text.validation_fraction=0.2 --set loop.max_steps=2"
BUILD = ("build corpus --out built", "update built corpus", "embed built --mode sum --bits 8 --out sum", "status built")


@dataclass(frozen=True)
class Extra:
    """An extra, the commands that it must run, and commands that must name another extra.

    Commands run in a directory with a corpus and, in `books`, vectors of it.
    """

    commands: tuple[str, ...]
    refused: dict[str, str]


EXTRAS = {
    "none": Extra(
        QUERY, {"build corpus --out x": "pipelines", "train first.yaml --out x": "training", "serve books": "serve"}
    ),
    "pipelines": Extra((*QUERY, *BUILD, "plan corpus"), {"demo": "report", "sample hf://org/name": "datasets"}),
    "report": Extra((*BUILD, "explore built --out page.html", "demo"), {"train first.yaml --out x": "training"}),
    "cluster": Extra((*BUILD, "doctor"), {"demo": "report"}),
    "training": Extra(
        (*BUILD, "train first.yaml --out run", "compare run --out curves", "generate run --prompt the"),
        {f"train first.yaml --out x --set loop.report_to=[{name}]": name for name in ("wandb", "mlflow")}
        | {"evaluate-lm texts run pairs.tsv": "translation"},
    ),
    "datasets": Extra(BUILD, {"demo": "report"}),
    "s3": Extra(QUERY, {"build corpus --out x": "pipelines"}),
    "search": Extra(QUERY, {"build corpus --out x": "pipelines"}),
    "hub": Extra(QUERY, {"build corpus --out x": "pipelines"}),
    "wmd": Extra(QUERY, {"build corpus --out x": "pipelines"}),
    "translation": Extra((f"train text-pairs --out pairs {PAIRS}", "evaluate-lm texts pairs pairs.tsv"), {}),
    "serve": Extra(QUERY, {"build corpus --out x": "pipelines"}),
    "wandb": Extra(("train first.yaml --out run --set loop.report_to=[wandb]",), {"demo": "report"}),
    "mlflow": Extra(("train first.yaml --out run --set loop.report_to=[mlflow]",), {"demo": "report"}),
}


def main() -> int:
    """Check the extras given as arguments, or all; return 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extras", nargs="*", default=list(EXTRAS), metavar="EXTRA", help=", ".join(EXTRAS))
    extras = parser.parse_args().extras
    failures = []
    with tempfile.TemporaryDirectory(prefix="bitcipher-extras-") as folder:
        wheel = build_wheel(Path(folder))
        for name in extras:
            work = Path(folder, name)
            write_inputs(work)
            program = install(work / "venv", wheel, name)
            failures += check(name, program, work)
    for failure in failures:
        print(failure)
    print(f"{len(extras)} extras checked, {len(failures)} failures")
    return bool(failures)


def build_wheel(folder: Path) -> Path:
    """Build a wheel of the checkout and return its path."""
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT], check=True)
    (wheel,) = folder.glob("bitcipher-*.whl")
    return wheel


def install(target: Path, wheel: Path, extra: str) -> Path:
    """Install the wheel with an extra into a new virtual environment; return the path of the `bitcipher` program."""
    venv.create(target, with_pip=True)
    requirement = str(wheel) if extra == "none" else f"{wheel}[{extra}]"
    pip = [target / "bin" / "python", "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt"]
    subprocess.run([*pip, requirement], check=True)
    return target / "bin" / "bitcipher"


def write_inputs(folder: Path) -> None:
    """Write a small corpus and a training recipe."""
    (folder / "corpus").mkdir(parents=True)
    texts = [" ".join(WORDS[(i * j) % len(WORDS)] for j in range(1, 60)) for i in range(1, 60)]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (folder / "corpus" / "part.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "first.yaml").write_text(RECIPE)
    pairs = [f"{text[:9]}\t{text[9:18]}" for text in texts]
    (folder / "pairs.tsv").write_text("\n".join(["source\ttarget", *pairs]) + "\n")


def check(name: str, program: Path, folder: Path) -> list[str]:
    """Run the commands of an extra; return one line per failure."""
    extra, failures = EXTRAS[name], []
    make_books(folder)
    for line in extra.commands:
        result = run(program, line, folder)
        print(f"{name}: bitcipher {line}: exit code {result.returncode}")
        if result.returncode != 0:
            failures.append(f"{name}: bitcipher {line}: {result.stderr.strip()[-300:]}")
    for line, wanted in extra.refused.items():
        result = run(program, line, folder)
        print(f"{name}: bitcipher {line}: exit code {result.returncode} (should name {wanted})")
        if result.returncode != 2 or f"bitcipher[{wanted}]" not in result.stderr or result.stderr.count("\n") != 1:
            failures.append(f"{name}: bitcipher {line} should ask for {wanted}: {result.stderr.strip()[-300:]}")
    if name == "serve" and not is_served(program, folder):
        failures.append(f"{name}: bitcipher serve books does not answer")
    return failures


def is_served(program: Path, folder: Path) -> bool:
    """Start a server, ask for its health, and end it; return whether all of that succeeds."""
    command = [program, *"serve books --port 0".split()]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        address = re.search(r"http://\S+:\d+", server.stdout.readline())
        try:
            health = urlopen(f"{address[0]}/health", timeout=30).read() if address else b""
        finally:
            server.terminate()
    print(f"serve: bitcipher serve books: {health.decode()}, exit code {server.returncode}")
    return b'"version":1' in health and server.returncode == 0


def make_books(folder: Path) -> None:
    """Build vectors with the environment of this script, for extras that cannot build."""
    command = [sys.executable, "-m", "cluster.cli.main", "build", "corpus", "--out", "books", "--min-count", "1"]
    subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True)


def run(program: Path, line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line of bitcipher."""
    return subprocess.run([program, *line.split()], cwd=folder, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
