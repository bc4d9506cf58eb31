"""Example commands of `--help` and of the READMEs: all parse, and those that need no cluster run."""

import inspect
import re
import shlex
import shutil
from pathlib import Path

import pytest
import tiny_commands
import user_folder
from tiny_tasks import write_task
from typer.testing import CliRunner

from cluster.cli.main import all_commands, app
from training.data.tokenizer_files import save_tokenizer
from training.data.train_tokenizer import train_tokenizer

ROOT = Path(__file__).parents[2]
PACKAGES = ("bitcipher", "pipelines", "training", "cluster")
COMMANDS = all_commands()
BY_NAME = {tuple(name.split()): command for name, command in COMMANDS.items()}


def examples_of_help() -> dict[str, str]:
    """Return the example in the help of each command, by command name."""
    found = {
        name: re.findall(r"For example: (bitcipher .+)", inspect.getdoc(c.callback)) for name, c in BY_NAME.items()
    }
    return {" ".join(name): example for name, examples in found.items() for example in examples}


def examples_of_pages() -> dict[str, str]:
    """Return the commands of all pages but README.md, by page name and number."""
    pages = {
        str(page.relative_to(ROOT)): page for folder in (*PACKAGES, "docs") for page in (ROOT / folder).rglob("*.md")
    }
    return {
        f"{name} {number}": command
        for name, page in sorted(pages.items())
        for number, command in enumerate(re.findall(r"^(?: {4}| {6})?(bitcipher .+)$", page.read_text(), re.MULTILINE))
    }


# Each example is tested once, even if several pages contain it.
NAMES = {command: name for name, command in (examples_of_pages() | examples_of_help()).items()}
EXAMPLES = {name: command for command, name in NAMES.items()}


def needs_a_cluster(command: str) -> bool:
    return "s3://" in command or command.split()[1] in ("submit", "doctor")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with all files that the examples refer to."""
    folder = tmp_path_factory.mktemp("examples")
    user_folder.write_corpus(folder / "corpus" / "part-0.json.gz")
    user_folder.write_crawl(folder / "crawl")
    user_folder.write_labeled(folder)
    user_folder.write_first_recipe(folder)
    user_folder.write_words(folder / "words.txt")
    user_folder.write_minimal_pairs(folder / "blimp")
    user_folder.write_evaluations(folder / "evaluations.csv")
    user_folder.write_text_pairs(folder / "pairs")
    user_folder.write_text_pairs(folder / "multi30k", "en\tde")
    for name in ("scan", "cogs"):
        user_folder.write_text_pairs(folder / name)
    user_folder.write_text_pairs(folder / "tatoeba", "ar\ten")
    user_folder.write_questions(folder)
    user_folder.write_labeled_sentences(folder / "questions.jsonl")
    for name in ("roberta.json", "words.json"):
        save_tokenizer(train_tokenizer(["king queen"], "bpe", 270), str(folder / name))
    run(f"build {folder}/corpus --out {folder}/vectors")
    (folder / "build").symlink_to("vectors")
    for text, name in (("enwiki", "enwiki-00000-of-00004"), ("gutenberg", "books-000"), ("reviews", "part-0")):
        (folder / text).mkdir()
        (folder / text / f"{name}.json.gz").symlink_to("../corpus/part-0.json.gz")
    user_folder.write_restated(folder / "enwiki" / "enwiki-00001-of-00004.json.gz")
    (folder / "words.csv").write_text("word\n" + (folder / "words.txt").read_text())
    for name, setting in (
        ("random-1", "seed=1"),
        ("random-2", "seed=2"),
        ("cipher-1", "embeddings.learning_rate_multiplier=0.5"),
    ):
        tiny_commands.train(folder, folder / "runs" / name, setting)
    shutil.copytree(folder / "runs" / "random-1", folder / "runs" / "reviews")
    pretrained = folder / "runs" / "roberta-pretrained"
    tiny_commands.train(folder, pretrained, recipe="figure-5-roberta-pretrain")
    tiny_commands.train(folder, folder / "encoder", recipe="masked")
    pairs = f"text.sources=[{folder}/pairs/train.tsv]"
    tiny_commands.train(folder, folder / "runs" / "pairs", pairs, recipe="text-pairs")
    tiny_commands.train(folder, folder / "runs" / "simclr", recipe="simclr")
    for name in ("multi30k", "vicreg"):
        (folder / "runs" / name).mkdir()
    write_task(folder / "squad", "squad", 20)
    for name in ("cloze", "restated", "questions"):
        write_task(folder / name, "squad", 20)
    for name in ("squad2", "unanswerable"):
        write_task(folder / name, "squad2", 20)
    write_task(folder / "qnli", "qnli", 20)
    (folder / "arabic_wiki").symlink_to("corpus")
    write_task(folder / "arabic", "arcd", 20)
    for task, name in (("cola", "CoLA"), ("sst2", "SST-2"), ("stsb", "STS-B")):
        write_task(folder / "glue" / name, task, 20)
    run(f"finetune {folder}/encoder --task cola --data {folder}/glue/CoLA --out {folder}/runs/cola")
    shutil.copytree(folder / "encoder", folder / "runs" / "segmented")
    for name in ("cloze", "restated", "unanswerable"):
        task = "squad2" if name == "unanswerable" else "squad"
        run(f"finetune {folder}/encoder --task {task} --data {folder}/{name} --out {folder}/runs/{name}")
    shutil.copytree(folder / "runs" / "cloze", folder / "runs" / "cloze-segmented")
    for way in ("ordinary", "cipher"):
        checkpoint = f"model.checkpoint={pretrained}"
        tiny_commands.train(folder, folder / "runs" / f"roberta-{way}", checkpoint, recipe=f"figure-5-roberta-{way}")
    (folder / "prompts.yaml").write_text("inputs: [a]\nexamples: [{input: b, output: c}, {input: d, output: e}]\n")
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy of the directory, in which one example runs."""
    shutil.copytree(prepared, tmp_path / "folder", symlinks=True)
    monkeypatch.chdir(tmp_path / "folder")
    return tmp_path / "folder"


def run(line: str) -> None:
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"


def check_arguments(arguments: list[str]) -> None:
    """Fail if the command does not exist or rejects the arguments."""
    (name,) = (name for name in BY_NAME if name == tuple(arguments[: len(name)]))
    context = BY_NAME[name].make_context(" ".join(name), arguments[len(name) :])
    if name == ("submit",):
        check_arguments(context.params["command"])


def test_examples_are_found():
    assert {"build", "evaluate", "study bit-cipher tables", "submit"} <= set(examples_of_help())
    assert {"cluster/README.md 0", "training/evaluation/probes/README.md 1", "bitcipher/evaluation/README.md 0"} <= set(
        examples_of_pages()
    )


@pytest.mark.parametrize("command", EXAMPLES.values(), ids=EXAMPLES)
def test_example_is_a_valid_command(command):
    check_arguments(shlex.split(command, comments=True)[1:])


# Full-size figures take hours. `tests/training/studies` runs small ones, and `tests/cluster/demo` a small demo.
HOURS = (
    *("bitcipher demo", "study bit-cipher figure", "study encoders", "study arabic", "study byte-embeddings table"),
    "study class-centers compare",
)
# `serve` runs until it is ended, see `tests/cluster/serve`.
ENDLESS = ("bitcipher serve",)
GPU = ("--gpus",)
LEFT_OUT = (*HOURS, *ENDLESS, *GPU)
RUNNING = {name: c for name, c in EXAMPLES.items() if not needs_a_cluster(c) and not any(map(c.count, LEFT_OUT))}
ON_RAY = {name: command for name, command in RUNNING.items() if "--max-concurrent-trials" in command}
HERE = {name: command for name, command in RUNNING.items() if name not in ON_RAY}


@pytest.mark.long
@pytest.mark.parametrize("command", HERE.values(), ids=HERE)
def test_example_runs(folder, command):
    run_example(folder, command)


@pytest.mark.long
@pytest.mark.parametrize("command", ON_RAY.values(), ids=ON_RAY)
def test_example_runs_on_ray(ray_cluster, folder, command):
    run_example(folder, command)


def run_example(folder: Path, command: str) -> None:
    """Run an example with small settings."""
    arguments = shlex.split(command)[1:]
    if arguments[0] == "build":
        shutil.rmtree(folder / "vectors")
    # A prepared folder can have other options.
    if {"train", "finetune", "cloze-questions"} & set(arguments[:2]) and "--out" in arguments:
        shutil.rmtree(folder / arguments[arguments.index("--out") + 1], ignore_errors=True)
    if "--restatements" in arguments:  # a hundredth of few documents is none
        arguments += ["--validation-fraction", "0.2"]
    if arguments[0] == "train":  # an unchanged recipe takes minutes
        arguments += tiny_commands.arguments_of()
        if "span-corruption" in arguments:  # 100 sentinels are more than the tiny vocabulary
            arguments += ["--set", "text.tokenizer.sentinels=2"]
        if "masked-arabic-segmented" in arguments:  # only this kind divides words
            arguments += ["--set", "text.tokenizer.kind=unigram", "--set", "text.tokenizer.vocab_size=100"]
    if arguments[0] == "finetune" and "num_train_epochs=null" in arguments:
        arguments += ["--set", "loop.max_steps=2"]
    if arguments[0] == "sweep":  # an unchanged study takes half an hour
        arguments += tiny_commands.arguments_of(tiny_commands.STUDY)
    if arguments[0] == "tune":
        arguments += [*tiny_commands.arguments_of(), "--budget", "2steps", "--trials", "2"]
        arguments += ["--set", "text.sources=[corpus]"]
    run(shlex.join(arguments))
