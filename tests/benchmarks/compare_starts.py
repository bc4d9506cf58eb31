"""Lead of initial token embeddings over a tuned cold start, for a masked, a causal and an encoder-decoder model.

compare_starts.py --data CORPUS --glove FILE --out FOLDER

- cold: random embeddings, for more steps than the others, because a lead ends where the cold start ends;
- cipher: vectors counted on all training text;
- cipher-read: vectors counted only on as much text as a run reads, namely the sequences of seed 1;
- glove: published vectors of words, for the tokens that begin a word.

Learning rate, warmup and scale of the cold start and of cipher are tuned with a seed of their own; cipher-read and
glove have those of cipher. T5's rates are scaled by the size of each weight. The rate is constant after the warmup, so
that runs of any length are comparable. FOLDER gets a folder per objective with its runs, `tuned.json`, and the
comparison of `bitcipher compare`. After an interruption, the same command resumes. Run it with OMP_NUM_THREADS=1.
"""

import argparse
import itertools
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson
from compare_build import BITCIPHER

from bitcipher import CipherVectors
from pipelines.runtime.progress import StageProgress
from training.comparison.curves.comparison import compare_runs
from training.comparison.curves.run_groups import read_run
from training.data.token_streams import SequenceOrder, Sequences, TokenDataset
from training.loop.file_names import CONFIG
from training.runs.launch.pretraining import launch_pretraining
from training.runs.recipe import find_recipe, read_recipe
from training.runs.run_files import PretrainingConfig

SHORT = ["model.num_hidden_layers=2", "model.max_position_embeddings=64", "model.dropout=0.0"]
# Recipe of each objective, changes to it, and the learning rates that are tried.
RECIPES = {
    "masked": ("masked", [], (1.5e-3, 3e-3, 6e-3)),
    "causal": ("figure-4-random", SHORT, (1.5e-3, 3e-3, 6e-3)),
    "t5": ("figure-5-t5-pretrain", [*SHORT, "loop.scale_parameter=true"], (5e-3, 1e-2, 2e-2)),
}
VOCABULARY = "text.tokenizer.vocab_size=4000"
TUNING_SEED = 1000
WARMUPS = (20, 60)
SCALES = (1.0, 3.0)


def parse_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", type=Path, required=True, metavar="PATH", help="sources of the text")
    parser.add_argument("--glove", required=True, metavar="PATH", help="vectors of words, such as GloVe 6B's")
    parser.add_argument("--out", type=Path, required=True, metavar="PATH", help="folder of all runs")
    parser.add_argument("--objectives", nargs="+", choices=RECIPES, default=[*RECIPES], help="default: all")
    parser.add_argument("--steps", type=int, default=500, metavar="N", help="updates of a run; default: 500")
    parser.add_argument("--cold-steps", type=int, default=1500, metavar="N", help="of a cold start; default: 1500")
    parser.add_argument("--tuning-steps", type=int, default=100, metavar="N", help="of a trial; default: 100")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs per start; default: 3")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="changes to all recipes")
    return parser.parse_args()


class Study:
    """Runs of an objective."""

    def __init__(self, objective: str, arguments: argparse.Namespace):
        self._recipe, self._settings, self._rates = RECIPES[objective]
        self._arguments = arguments
        self.folder = arguments.out / objective
        self.folder.mkdir(parents=True, exist_ok=True)

    def train(self, name: str, seed: int, steps: int, settings: Sequence[str], evaluations: int = 20) -> Path:
        """Train a run, unless it is finished, and return its folder."""
        arguments, folder = self._arguments, self.folder / f"{name}-{seed}"
        sources = json.dumps([str(path.resolve()) for path in arguments.data])
        values = [f"text.sources={sources}", VOCABULARY, *self._settings, *settings, f"seed={seed}"]
        values += [f"loop.max_steps={steps}", f"loop.eval_steps={max(1, arguments.steps // evaluations)}"]
        values += ["loop.lr_scheduler_type=constant_with_warmup", "loop.device=cpu", *arguments.set]
        recipe = read_recipe(find_recipe(self._recipe), values)
        launch_pretraining(recipe, str(folder), str(self.folder / "prepared"), 0, StageProgress())
        return folder

    def tune(self, name: str, settings: Sequence[str], scales: Sequence[float]) -> list[str]:
        """Return the settings with the lowest perplexity after short runs, and note all in tuned.json."""
        path, steps = self.folder / "tuned.json", self._arguments.tuning_steps
        tuned = json.loads(path.read_text()) if path.exists() else {}
        for rate, warmup, scale in itertools.product(self._rates, WARMUPS, scales):
            chosen = [f"loop.learning_rate={rate}", f"loop.warmup_steps={warmup}", f"embeddings.scale={scale}"]
            if (key := " ".join([name, *chosen])) not in tuned:
                run = self.train(f"tune-{name}-{len(tuned)}", TUNING_SEED, steps, [*settings, *chosen], evaluations=1)
                tuned[key] = float(read_run(run).evaluations["perplexity"][-1])
                path.write_text(json.dumps(tuned, indent=1))
        best = min((key for key in tuned if key.split()[0] == name), key=lambda key: tuned[key])
        return best.split()[1:]

    def dataset(self, run: Path) -> TokenDataset:
        """Return the text of a run."""
        return TokenDataset.open(PretrainingConfig.read(str(run / CONFIG)).text)

    def count_read(self, run: Path) -> str:
        """Count the sequences that a run reads, and return the build of their vectors."""
        text, target = self.folder / "read.jsonl", self.folder / "read"
        config = PretrainingConfig.read(str(run / CONFIG)).recipe
        dataset, loop = self.dataset(run), config.loop
        length = config.make_objective().text_length(config.model.max_position_embeddings)
        sequences = Sequences(dataset.train, length)
        positions = np.arange(loop.count_sequences(loop.max_steps))
        names = np.array(_names(dataset), dtype=object)
        with text.open("wb") as lines:
            for row in sequences.take(SequenceOrder(len(sequences), config.seed).sequence_ids(positions)):
                lines.write(orjson.dumps({"text": " ".join(names[row])}) + b"\n")
        options = ["--tokenizer", "whitespace", "--no-lowercase", "--min-count", 1, "--spelling-share", 0]
        options += ["--vector-size", config.model.embedding_dim]
        if not target.exists():
            subprocess.run([*BITCIPHER, "build", text, "--out", target, *map(str, options)], check=True)
        return str(target)

    def convert_glove(self, run: Path) -> str:
        """Return vectors of tokens that begin a word, which are published vectors of these words."""
        target = self.folder / "glove"
        if not target.exists():
            published = CipherVectors.load(self._arguments.glove)
            words = {token: token[1:].lower() for token in _names(self.dataset(run)) if token[0] in "Ġ▁"}
            known = [token for token, word in words.items() if word in published.key_to_index]
            rows = np.stack([published[words[token]] for token in known])
            CipherVectors(known, rows).save(str(target))
        return str(target)


def _names(dataset: TokenDataset) -> list[str]:
    """Return the names of all tokens, in order of their ids."""
    vocabulary = dataset.tokenizer.get_vocab()
    return sorted(vocabulary, key=lambda name: vocabulary[name])


def compare(objective: str, arguments: argparse.Namespace) -> None:
    """Train all runs of an objective, and print their comparison."""
    study, seeds = Study(objective, arguments), range(1, arguments.seeds + 1)
    cipher = ["embeddings.init=cipher"]
    cold = study.tune("cold", [], SCALES)
    warm = study.tune("cipher", cipher, SCALES)
    runs = [study.train("cold", seed, arguments.cold_steps, cold) for seed in seeds]
    runs += [study.train("cipher", seed, arguments.steps, [*cipher, *warm]) for seed in seeds]
    vectors = {"cipher-read": study.count_read(runs[-arguments.seeds]), "glove": study.convert_glove(runs[0])}
    for name, uri in vectors.items():
        settings = [*cipher, f"embeddings.vectors={uri}", *warm]
        runs += [study.train(name, seed, arguments.steps, settings) for seed in seeds]
    print(f"\n{objective}: cold {' '.join(cold)}; cipher {' '.join(warm)}\n", flush=True)
    print(compare_runs([str(run) for run in runs], str(study.folder / "comparison")).markdown())


def main() -> None:
    """Compare the starts of all objectives."""
    arguments = parse_arguments()
    arguments.glove = str(Path(arguments.glove).resolve())
    arguments.out = arguments.out.resolve()
    for objective in arguments.objectives:
        compare(objective, arguments)


if __name__ == "__main__":
    main()
