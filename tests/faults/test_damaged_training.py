"""Damage to each kind of file of a training run: commands notice it, or give the same result; `verify` finds it."""

import hashlib
import random
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
import tiny_commands
from damaged_content import damages, judge
from forked_commands import Outcome, run_forked
from forked_training import Runs, interrupt_at_step, load_libraries


@dataclass(frozen=True)
class Use:
    """A command that reads a run."""

    name: str

    def run(self, runs: Runs) -> Outcome:
        run, out = runs.folder / "run", runs.folder / "out"
        if self.name == "train":
            return runs.train()
        if self.name == "verify":
            return run_forked(["verify", str(run)])
        if self.name == "compare":
            table = out / "table.md"
            return run_forked(
                ["compare", str(run), "--out", str(out)], lambda: hashlib.sha256(table.read_bytes()).hexdigest()
            )
        arguments = ["--prompt", "the cat", "--max-new-tokens", "4", "--temperature", "0"]
        return run_forked(["generate", str(run), *arguments])


TRAIN, VERIFY, COMPARE, GENERATE = map(Use, ("train", "verify", "compare", "generate"))

# Kinds of files: the run, a pattern, and the commands that read them.
KINDS = {
    "weights": ("finished", "run/checkpoints/00000006/model.safetensors", (TRAIN, GENERATE)),
    "config of a model": ("finished", "run/checkpoints/00000006/config.json", (TRAIN, GENERATE)),
    "generation config": ("finished", "run/checkpoints/00000006/generation_config.json", (TRAIN, GENERATE)),
    "optimizer": ("interrupted", "run/checkpoints/00000003/optimizer.safetensors", (TRAIN,)),
    "state": ("interrupted", "run/checkpoints/00000003/state.json", (TRAIN, GENERATE)),
    "digests of a checkpoint": ("interrupted", "run/checkpoints/00000003/files.json", (TRAIN, COMPARE, GENERATE)),
    "metrics": ("finished", "run/metrics.jsonl", (TRAIN, COMPARE)),
    "inputs of a run": ("interrupted", "run/run.json", (TRAIN, COMPARE, GENERATE)),
    "recipe": ("interrupted", "run/recipe.yaml", (TRAIN, COMPARE)),
    "tokenizer of a run": ("finished", "run/tokenizer.json", (TRAIN, GENERATE)),
    "digests of a run": ("finished", "run/files.json", (TRAIN, GENERATE)),
    "lease of a run": ("interrupted", "run/run-lease/*.json", (TRAIN,)),
    "tokens": ("interrupted", "prepared/text-*/*.tokens", (TRAIN,)),
    "ends of documents": ("interrupted", "prepared/text-*/*.ends", (TRAIN,)),
    "metadata of tokens": ("interrupted", "prepared/text-*/text.json", (TRAIN,)),
    "tokenizer of tokens": ("interrupted", "prepared/text-*/tokenizer.json", (TRAIN,)),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Runs:
    """The path at which runs are used."""
    load_libraries()
    folder = tmp_path_factory.mktemp("damaged")
    return Runs(folder / "used", tiny_commands.write_corpus(folder / "corpus"))


@pytest.fixture(scope="module")
def originals(runs) -> dict[str, Path]:
    """A finished run of two checkpoints, and one that was interrupted after its first."""
    found = {}
    for name, before in {"finished": lambda: None, "interrupted": interrupt_at_step(5)}.items():
        runs.restore(Path("nowhere"))
        outcome = runs.train(before)
        assert outcome.code == (77 if name == "interrupted" else 0), outcome
        found[name] = runs.folder.rename(runs.folder.with_name(name))
    return found


@pytest.mark.parametrize(
    ("flips", "cuts"),
    [pytest.param(1, 0, marks=pytest.mark.long), pytest.param(100, 20, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("kind", KINDS)
def test_damage_to_a_run_is_noticed(runs, originals, monkeypatch, print_measurement, kind, flips, cuts):
    monkeypatch.setattr("pipelines.store.lease.HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr("pipelines.store.lease.EXPIRY_SECONDS", 1.0)
    name, pattern, uses = KINDS[kind]
    original, intact = originals[name], {}
    for use in uses:
        runs.restore(original)
        intact[use] = use.run(runs)
        assert intact[use].code == 0, intact[use].err
    state, found = random.Random(kind), Counter()
    files = sorted(path.relative_to(original) for path in original.glob(pattern))
    contents = [
        (file, damage) for file in files for damage in damages((original / file).read_bytes(), state, flips, cuts)
    ]
    for number, (file, content) in enumerate(state.sample(contents, flips + cuts)):
        if content == (original / file).read_bytes():
            continue
        use = uses[number % len(uses)]  # in turn, because training commands take longer than others
        runs.restore(original)
        (runs.folder / file).write_bytes(content)
        outcome = VERIFY.run(runs)
        is_found = outcome.code == 2 and file.name in outcome.out + outcome.err
        found["verify found" if is_found else "verify missed"] += 1
        found[judge(use.run(runs), intact[use], runs.folder / file)] += 1
    print_measurement(f"| {kind} | {dict(found)} |")
    assert not {"crash", "traceback", "silent", "verify missed"} & found.keys()


def damage_folder(folder: Path, state: random.Random) -> str:
    """Damage a file of a checkpoint or the metrics of a run, and return what was done."""
    checkpoints = sorted((folder / "checkpoints").iterdir())
    file = state.choice([*(path for each in checkpoints for path in sorted(each.iterdir())), folder / "metrics.jsonl"])
    content = file.read_bytes()
    kind = state.choice(["flip", "cut", "empty", "remove", "zeros", "grow", "swap", "move"])
    position = state.randrange(len(content))
    if kind == "remove":
        file.unlink()
    elif kind == "swap":  # with the file of the same name of the other checkpoint
        twins = [path for path in folder.glob(f"checkpoints/*/{file.name}") if path != file]
        file.write_bytes(twins[0].read_bytes() if twins else b"")
    elif kind == "move":  # a whole checkpoint, to the step of a later one
        shutil.rmtree(checkpoints[-1])
        shutil.copytree(checkpoints[0], checkpoints[-1])
    else:
        flipped = content[:position] + bytes([content[position] ^ 1 << state.randrange(8)]) + content[position + 1 :]
        zeros = content[:position] + bytes(min(512, len(content) - position)) + content[position + 512 :]
        changed = {"flip": flipped, "cut": content[:position], "empty": b"", "zeros": zeros, "grow": content + b"x"}
        file.write_bytes(changed[kind])
    return f"{kind} {file.relative_to(folder)}"


def latest_of(runs: Runs) -> object:
    """Return the metrics, and the weights and the optimizer of the latest checkpoint."""
    weights, lines = runs.state()
    latest = max(name.rpartition("/")[0] for name in weights)
    return [{name: digest for name, digest in weights.items() if name.startswith(latest)}, lines]


@pytest.mark.parametrize("number", [pytest.param(8, marks=pytest.mark.long), pytest.param(100, marks=pytest.mark.slow)])
def test_damage_is_noticed_or_leaves_the_run_unchanged(runs, originals, print_measurement, number):
    """A resumed run returns to its older checkpoint, and ends with the same weights and metrics."""

    def use(command: Use) -> Outcome:
        return runs.train(result=lambda: latest_of(runs)) if command == TRAIN else command.run(runs)

    commands, intact = (TRAIN, TRAIN, GENERATE, COMPARE), {}
    for command in commands:
        runs.restore(originals["finished"])
        intact[command] = use(command)
    state, found = random.Random(number), Counter()
    for each in range(number):
        runs.restore(originals["finished"])
        done, command = damage_folder(runs.folder / "run", state), commands[each % len(commands)]
        outcome = use(command)
        end = judge(outcome, intact[command], runs.folder / "run")
        assert end in ("noticed", "unchanged"), (done, command, outcome)
        found["resumed from the older checkpoint" if "resumes from" in outcome.err else end] += 1
    print_measurement(str(dict(found)))
