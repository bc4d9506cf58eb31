"""Vectors of all tools, each trained once and stored as NAME-DIMENSIONS, with its cost."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from compare_build import BITCIPHER
from measure import Cost, run, run_script

OURS = {
    "spectral": "bitcipher, Spectral",
    "spectral-all": "bitcipher, Spectral, all landmarks",
    "cat": "bitcipher, Cat",
    "sum": "bitcipher, Sum",
}
THEIRS = {
    "glove": "GloVe",
    "skip-gram": "word2vec, skip-gram",
    "cbow": "word2vec, CBOW",
    "fasttext": "fastText",
    "ppmi-svd": "PPMI and SVD",
}
METHODS = OURS | THEIRS

CAT_BLOCKS = 8  # four offsets on either side
GLOVE_ITERATIONS = 25  # the program's default
GLOVE_X_MAX = 10  # value of GloVe's demo, for 17 million tokens; the default is for billions of tokens


@dataclass(frozen=True)
class Trained:
    """Vectors of a corpus; missing ones are trained on access.

    Attributes:
        folder: folder of the vectors, and of costs.jsonl, which has one line per process.
        data: folders of the corpus.
        glove: folder of GloVe's programs, or None.
        dimensions: number of dimensions.
    """

    folder: Path
    data: list[Path]
    glove: Path | None
    dimensions: int

    def vectors(self, method: str) -> dict[str, object]:
        """Return the path of the vectors of a method, CPU seconds of all its processes, and peak memory in bytes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{method}-{self.dimensions}"
        steps = [name]
        if method in OURS:
            target = self._build(name, method)
        elif method == "glove":
            target = self._train_glove(name)
            steps = ["glove-vocab", "glove-cooccur", "glove-shuffle", f"{name}-{GLOVE_ITERATIONS}"]
        else:
            target = self._train_peer(name, method)
        lines = (self.folder / "costs.jsonl").read_text().splitlines()
        costs = {cost["name"]: cost for cost in map(json.loads, lines)}
        if missing := set(steps) - set(costs):
            raise SystemExit(f"{self.folder}/costs.jsonl has no costs of {', '.join(missing)}: remove {target}.")
        cpu, peak = sum(costs[step]["cpu"] for step in steps), max(costs[step]["peak"] for step in steps)
        return {"uri": str(target), "cpu": cpu, "peak": peak}

    def _build(self, name: str, method: str) -> Path:
        target, unfinished = self.folder / name, self.folder / f"{name}.tmp"
        if not target.exists():
            spectral = ["--mode", "spectral", "--vector-size", self.dimensions]
            options = {
                "spectral": spectral,
                "spectral-all": [*spectral, "--landmarks", "all", "--landmark-contexts", "all"],
                "cat": ["--mode", "cat", "--bits", self.dimensions // CAT_BLOCKS],
                "sum": ["--mode", "sum", "--bits", self.dimensions],
            }
            command = [*BITCIPHER, "build", *self.data, "--out", unfinished, *options[method]]
            for _ in range(2):  # the first build fills numba's cache
                shutil.rmtree(unfinished, ignore_errors=True)
                cost = run(command, self.folder)
            self._keep(name, cost, unfinished, target)
        return target

    def _train_peer(self, name: str, method: str) -> Path:
        target, unfinished = self.folder / f"{name}.vec", self.folder / f"{name}.tmp"
        if not target.exists():
            cost = run_script("train_peer.py", method, self._tokens(), self.dimensions, unfinished, folder=self.folder)
            self._keep(name, cost, unfinished, target)
        return target

    def _train_glove(self, name: str) -> Path:
        target = self.folder / f"{name}.txt"
        if target.exists():
            return target
        vocabulary, shuffled = self.folder / "glove.vocab", self.folder / "glove.shuf"
        if not shuffled.exists():
            self._count_glove(vocabulary, shuffled)
        command = [self.glove / "glove", "-input-file", shuffled, "-vocab-file", vocabulary, "-threads", 1, "-seed", 1]
        command += ["-vector-size", self.dimensions, "-iter", GLOVE_ITERATIONS, "-x-max", GLOVE_X_MAX]
        command += ["-binary", 0, "-write-header", 1, "-verbose", 0, "-save-file", self.folder / f"{name}.tmp"]
        cost = run(command, self.folder)
        self._keep(f"{name}-{GLOVE_ITERATIONS}", cost, self.folder / f"{name}.tmp.txt", target)
        return target

    def _count_glove(self, vocabulary: Path, shuffled: Path) -> None:
        tokens, pairs, unfinished = self._tokens(), self.folder / "glove.cooc", self.folder / "glove.shuf.tmp"
        count = [self.glove / "vocab_count", "-min-count", 5, "-verbose", 0]
        self._record_cost("glove-vocab", run(count, self.folder, tokens, vocabulary))
        pair = [self.glove / "cooccur", "-window-size", 4, "-vocab-file", vocabulary, "-memory", "4", "-verbose", 0]
        self._record_cost("glove-cooccur", run(pair, self.folder, tokens, pairs))
        shuffle = [self.glove / "shuffle", "-memory", "4", "-verbose", 0, "-seed", 1]
        self._keep("glove-shuffle", run(shuffle, self.folder, pairs, unfinished), unfinished, shuffled)
        pairs.unlink()

    def _tokens(self) -> Path:
        """Return the token file for the other tools. Writing it is not measured."""
        tokens, unfinished = self.folder / "tokens.txt", self.folder / "tokens.tmp"
        if not tokens.exists():
            run_script("prepare.py", "tokens", unfinished, *self.data, folder=self.folder)
            os.rename(unfinished, tokens)
        return tokens

    def _keep(self, step: str, cost: Cost, unfinished: Path, target: Path) -> None:
        # The cost is written first, so that all existing vectors have a cost after an interruption.
        self._record_cost(step, cost)
        os.rename(unfinished, target)

    def _record_cost(self, step: str, cost: Cost) -> None:
        with open(self.folder / "costs.jsonl", "a", encoding="utf-8") as lines:
            lines.write(json.dumps({"name": step, "cpu": cost.cpu, "peak": cost.peak}) + "\n")
