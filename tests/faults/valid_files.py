"""Small valid files of every format that bitcipher reads, each made when a test needs it."""

import contextlib
import shutil
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import labeled
import tiny_commands
import tiny_tasks
import user_folder
from builds import OPTIONS
from typer.testing import CliRunner

from bitcipher.errors import BitcipherError
from bitcipher.sentences.sentence_encoder import SentenceEncoder
from bitcipher.vectors.cipher_vectors import CipherVectors
from cluster.cli.main import app
from pipelines.builds.build import build
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress

WORDS = user_folder.WORDS
ROOT = Path(__file__).parents[2]
# Options of small builds. `RESUMED` are those of the interrupted build.
SMALL = ("--tokenizer", "whitespace", "--min-count", "1", "--shard-mib", "1")
CAT = ("--mode", "cat", "--bits", "6")
RESUMED = (*SMALL, *CAT, "--memory-mib", "600")
TINY_TASK = ("--set", "num_train_epochs=1", "--set", "loop.batch_size=16")
RECIPES = {
    "build.yaml": "sources: [{text}]\ntokenizer: whitespace\nmin_count: 1\nmode: cat\nbits: 6\nwindow: 2\n",
    "spectral.yaml": "sources: [{text}]\ntokenizer: whitespace\nmin_count: 1\nmode: spectral\nvector_size: 6\n",
    "prompts.yaml": "template: '{{input}} is {{output}}'\ninputs: [a b, c]\nexamples: [{{input: a, output: b}}]\n",
    "pieces.yaml": "cooking: cook, ing\nhouses: hous, es\n",
    "pairs.txt": "".join(f"{a}\t{b}\t{n}.5\n" for n, (a, b) in enumerate(pairwise(WORDS))),
    "questions.txt": ": one\n" + "".join(" ".join(WORDS[n : n + 4]) + "\n" for n in range(10)),
    "sentences.txt": "the zzz king\nlondon zzz went to\n",
    "words.txt": "\n".join(WORDS),
    "words.csv": "word,count\n" + "".join(f"{word},{n}\n" for n, word in enumerate(WORDS)),
    "glue.txt": "\n".join((*tiny_tasks.FILLERS, *tiny_tasks.NAMES)),
    "list.paths": "{text}/a.txt\n{text}/b.txt\n",
}


class _StoppingRuntime(InProcessRuntime):
    """Runtime that stops before the vectors are made."""

    def stream(self, spec, inputs):
        if spec.name == "embed":
            raise BitcipherError("The stage was interrupted.")
        return super().stream(spec, inputs)


def run_command(*arguments: object) -> None:
    """Run a command that must succeed."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, f"{arguments}: {result.output} {result.exception!r}"


class ValidFiles:
    """Valid files below a folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    @cached_property
    def text(self) -> Path:
        """Folder of two text files."""
        path = self.folder / "text"
        path.mkdir()
        for number, name in enumerate("ab", 1):
            lines = (" ".join(WORDS[(i * j + number) % len(WORDS)] for j in range(1, 30)) for i in range(1, 40))
            (path / f"{name}.txt").write_text("\n".join(lines) + "\n")
        return path

    def build(self, mode: str = "cat") -> Path:
        """Return a build with two versions."""
        path = self.folder / f"build-{mode}"
        if not path.exists():
            size = CAT if mode == "cat" else ("--mode", mode, "--vector-size", "6")
            run_command("build", self.text / "a.txt", "--out", path, *SMALL, *size, "--window", 2)
            run_command("update", path, self.text)
        return path

    @cached_property
    def interrupted(self) -> Path:
        """Build of the text that was interrupted before it made vectors."""
        path = self.folder / "interrupted"
        options = OPTIONS.derive({"mode": "cat", "bits": 6, "min_count": 1})
        with StageProgress() as progress, contextlib.suppress(BitcipherError):
            build([str(self.text)], str(path), options, _StoppingRuntime(), progress)
        return path

    @cached_property
    def vectors(self) -> Path:
        """Folder of vectors."""
        run_command("embed", self.build(), "--out", self.folder / "vectors", "--bits", 6)
        return self.folder / "vectors"

    def exported(self, format: str) -> Path:
        """Return vectors in a format of another library."""
        path = self.folder / "exported" / format
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            CipherVectors.load(str(self.vectors)).export(format, path)
        return path

    @cached_property
    def encoder(self) -> Path:
        """Folder of a sentence encoder."""
        SentenceEncoder.from_vectors(CipherVectors.load(str(self.vectors))).save(self.folder / "encoder")
        return self.folder / "encoder"

    def file(self, name: str) -> Path:
        """Return a file of `RECIPES`, or a copy of a shipped recipe."""
        path = self.folder / Path(name).name
        if name in RECIPES:
            path.write_text(RECIPES[name].format(text=self.text))
        else:
            shutil.copy(ROOT / name, path)
        return path

    def task(self, name: str) -> Path:
        """Return the files of a task."""
        path = self.folder / "tasks" / name
        return path if path.exists() else tiny_tasks.write_task(path, name, 16)

    def model(self, architecture: str) -> Path:
        """Return a transformers folder."""
        path = self.folder / architecture
        return path if path.exists() else tiny_tasks.write_model(path, architecture)

    @cached_property
    def probe_data(self) -> Path:
        """Folder with the corpora of both probes, and vectors of their words."""
        path = self.folder / "probes"
        labeled.write_gum(path / "pos", 20)
        labeled.write_conll2003(path / "ner", 20)
        labeled.informative_vectors(labeled.TAGS).export("glove", path / "labeled.txt")
        return path

    @cached_property
    def run(self) -> Path:
        """Training run that can be resumed, with its corpus and prepared files."""
        path = self.folder / "training"
        path.mkdir()
        tiny_commands.train(path, path / "run")
        shutil.rmtree(path / "run/checkpoints/00000006")
        return path

    @cached_property
    def documents(self) -> Path:
        """Folder of document shards."""
        run_command("shard", self.text, "--out", self.folder / "documents")
        return self.folder / "documents"

    @cached_property
    def filtered(self) -> Path:
        """Filtered corpus."""
        path = self.folder / "filtered"
        words = ("--vocabulary", self.file("words.txt"), "--span", 5, "--stride", 5)
        run_command("study", "downscaling", "filter", self.text, *words, "--out", path)
        return path
