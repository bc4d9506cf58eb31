"""Commands that resume or cache, changes of their inputs, and the inputs themselves; see `changed_inputs.py`."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import bad_inputs

Change = Callable[[Path], None]

SIZES = "num_hidden_layers=1 hidden_size=16 num_attention_heads=2 intermediate_size=32 max_position_embeddings=16"
LOOP = "max_steps=6 batch_size=4 eval_steps=3 save_steps=3 eval_sequences=8 logging_steps=1 device=cpu"
SETTINGS = " ".join(
    [*(f"--set model.{each}" for each in SIZES.split()), *(f"--set loop.{each}" for each in LOOP.split())]
)
TOKENIZER = "--set text.tokenizer.kind=wordpiece --set text.tokenizer.vocab_size=80 --set text.validation_fraction=0.2"
TRAIN = f"train figure-4-random --out OUT --prepared OUT-prepared --set text.sources=[corpus] {SETTINGS}"
CIPHER = "--set embeddings.init=cipher"
TEACHER = f"{TRAIN} {TOKENIZER} --set objective.name=masked --set model.architecture=roberta".replace("OUT", "teacher")
TUNE = f"tune figure-4-random --out OUT --set text.sources=[corpus] {SETTINGS} {TOKENIZER} --budget 4steps"
FINETUNE = "finetune model --task cola --data cola --out OUT --set loop.max_steps=6 --set loop.eval_steps=3"
FINETUNE += " --set loop.save_steps=3 --set loop.device=cpu --set loop.batch_size=16"
BUILD = "--tokenizer whitespace --min-count 1 --mode sum --bits 8 --window 2 --workers 0"
RECIPE_BUILD = f"build corpus --out OUT {BUILD}"


class Case(NamedTuple):
    """A command, and changes of its inputs."""

    command: str
    """Command line; OUT is its target."""
    changes: dict[str, Change]
    """Function that changes each input, by its name. It is called with the folder of the inputs."""
    before: Sequence[str] = ()
    """Commands that make inputs."""
    is_interrupted: bool = False
    """Whether the first call is interrupted."""


def append(name: str, text: str) -> Change:
    """Return a change that appends text to a file."""

    def change(folder: Path) -> None:
        with (folder / name).open("a", encoding="utf-8") as stream:
            stream.write(text)

    return change


def add(name: str, text: str) -> Change:
    """Return a change that writes a new file."""
    return lambda folder: (folder / name).write_text(text, encoding="utf-8") and None


def replace(name: str, old: str, new: str) -> Change:
    """Return a change of text in a file."""

    def change(folder: Path) -> None:
        content = (folder / name).read_text()
        assert old in content
        (folder / name).write_text(content.replace(old, new))

    return change


def retrain(name: str) -> Change:
    """Return a change that trains a model anew at its path."""

    def change(folder: Path) -> None:
        import tiny_tasks

        shutil.rmtree(folder / name)
        tiny_tasks.write_model(folder / name, seed=8)

    return change


def rebuild(command: str, name: str) -> Change:
    """Return a change that removes a folder and makes it with another command."""

    def change(folder: Path) -> None:
        shutil.rmtree(folder / name)
        succeed(command)

    return change


def run_again(command: str) -> Change:
    """Return a change by a command."""
    return lambda folder: succeed(command)


MORE = "london saw a queen and the king saw a street in oslo\n" * 30
SOURCE = {"source": append("corpus/a.txt", MORE), "new source": add("corpus/c.txt", MORE)}
VECTORS = "build corpus --out vectors --tokenizer tokenizer.json --min-count 1 --workers 0 --vector-size 16"
OTHER_VECTORS = f"{VECTORS} --window 2"
NEW_TOKENIZER = replace("tokenizer.json", '"london"', '"londonx"')
COLA = {"train file": append("cola/train.tsv", "made\t1\t\tpeter sees many dogs\n")}
COLA["dev file"] = append("cola/dev.tsv", "made\t0\t\tlondon runs over hills\n")

CASES = {
    "build, interrupted": Case(RECIPE_BUILD, SOURCE, is_interrupted=True),
    "build --word-list, interrupted": Case(
        RECIPE_BUILD.replace("--min-count 1", "--word-list words.txt"),
        {"word list": append("words.txt", "word0\n")},
        is_interrupted=True,
    ),
    "build --tokenizer, interrupted": Case(
        RECIPE_BUILD.replace("whitespace", "tokenizer.json"), {"tokenizer": NEW_TOKENIZER}, is_interrupted=True
    ),
    "update --replace": Case(
        "update OUT corpus --replace --workers 0 --rehash",
        SOURCE,
        [RECIPE_BUILD],
    ),
    "update, word list": Case(
        "update OUT corpus --workers 0",
        {"word list": append("words.txt", "word0\n")},
        [RECIPE_BUILD.replace("--min-count 1", "--word-list words.txt")],
    ),
    "update, tokenizer": Case(
        "update OUT corpus --workers 0",
        {"tokenizer": NEW_TOKENIZER},
        [RECIPE_BUILD.replace("whitespace", "tokenizer.json")],
    ),
    "infer": Case(
        "infer BUILD king --contexts contexts.txt",
        {"tokenizer": NEW_TOKENIZER, "contexts": append("contexts.txt", "the king saw london\n")},
        [RECIPE_BUILD.replace("whitespace", "tokenizer.json").replace("OUT", "BUILD")],
    ),
    "shard --replace": Case("shard corpus --out OUT --replace --workers 0", SOURCE),
    "shard, rules": Case(
        "shard web --recipe rules.yaml --out OUT --workers 0",
        {
            "vocabulary": append("words.txt", "word0\n"),
            "blocklist": append("hosts.txt", "b.org\n"),
            "recipe": replace("rules.yaml", "0.9", "0.5"),
        },
    ),
    "study downscaling filter": Case(
        "study downscaling filter corpus --vocabulary words.txt --out OUT --workers 0 --span 5 --stride 5 "
        "--held-out-share 0.2",
        {**SOURCE, "vocabulary": append("words.txt", "word0\n")},
    ),
    "study downscaling choose-tokenizer": Case(
        "study downscaling choose-tokenizer corpus --kind wordpiece --size 80 --examples 20 --out OUT",
        SOURCE,
    ),
    "train": Case(f"{TRAIN} {TOKENIZER}", SOURCE),
    "train, interrupted": Case(f"{TRAIN} {TOKENIZER}", SOURCE, is_interrupted=True),
    "train, recipe": Case(
        f"train recipe.yaml --out OUT --prepared OUT-prepared {SETTINGS} {TOKENIZER}",
        {**SOURCE, "recipe": replace("recipe.yaml", "seed: 3", "seed: 4")},
    ),
    "train, validation": Case(
        f"{TRAIN} {TOKENIZER} --set text.validation_sources=[held-out.txt]",
        {**SOURCE, "validation source": append("held-out.txt", MORE)},
    ),
    "train, tokenizer": Case(
        f"{TRAIN} --set text.validation_fraction=0.2 --set text.tokenizer.path=tokenizer.json",
        {"tokenizer": NEW_TOKENIZER},
    ),
    "train, cipher": Case(f"{TRAIN} {TOKENIZER} {CIPHER}", SOURCE),
    "train, vectors": Case(
        f"{TRAIN} --set text.validation_fraction=0.2 --set text.tokenizer.path=tokenizer.json {CIPHER} "
        "--set embeddings.vectors=vectors",
        {"vectors": rebuild(OTHER_VECTORS, "vectors")},
        [VECTORS],
    ),
    "train, checkpoint": Case(
        "train masked.yaml --out OUT --prepared OUT-prepared --set model.checkpoint=model "
        "--set text.validation_fraction=0.2 " + " ".join(f"--set loop.{each}" for each in LOOP.split()),
        {"checkpoint": retrain("model")},
    ),
    "train text-pairs": Case(
        f"train text-pairs --out OUT --prepared OUT-prepared {SETTINGS} {TOKENIZER} "
        "--set text.sources=[pairs/train.tsv]",
        {"pairs": append("pairs/train.tsv", "the king\tTHE KING\n")},
    ),
    "finetune": Case(FINETUNE, {**COLA, "model": retrain("model")}),
    "finetune, interrupted": Case(FINETUNE, {**COLA, "model": retrain("model")}, is_interrupted=True),
    "finetune --vocabulary": Case(
        f"{FINETUNE} --vocabulary names.txt", {"vocabulary": replace("names.txt", "hills\n", "")}
    ),
    "finetune --grid": Case(f"{FINETUNE} --grid seed=[1,2]", {**COLA, "model": retrain("model")}),
    "tune": Case(f"{TUNE} --trials 2 --search loop.learning_rate=[1.0e-3,1.0e-2]", SOURCE),
    "sweep": Case(
        "sweep study.yaml --out OUT",
        {
            "source": append("study/a.txt", "Many dogs run over blue hills and peter sees the house.\n" * 40),
            "task": append("glue/CoLA/dev.tsv", "made\t0\t\tlondon runs over hills\n"),
        },
    ),
    "study bit-cipher tables": Case(
        "study bit-cipher tables counted --pos gum --out OUT --seeds 1 --vectors glove.txt",
        {
            "build": run_again("update counted corpus/a.txt --workers 0 --basis refresh"),
            "vectors": replace("glove.txt", "word0 ", "word0x "),
        },
        ["build corpus/b.txt --out counted --workers 0 --min-count 1 --vector-size 8"],
    ),
    "study byte-embeddings table": Case(
        "study byte-embeddings table teacher --text corpus/a.txt --out OUT --size small --loss mse --eval-sequences 8 "
        "--set epochs=1 --set device=cpu",
        {
            "run": rebuild(f"{TEACHER} --set seed=9", "teacher"),
            "text": append("corpus/a.txt", MORE),
        },
        [TEACHER],
    ),
}


def write_inputs(folder: Path) -> None:
    """Write the inputs of all commands."""
    import labeled
    import tiny_study
    import tiny_tasks
    import user_folder
    import yaml

    from training.data.tokenizer_files import save_tokenizer
    from training.data.train_tokenizer import train_tokenizer

    words = user_folder.WORDS
    texts = [" ".join(words[(i * j) % len(words)] for j in range(1, 40)) for i in range(1, 90)]
    for name in ("corpus", "web", "study"):
        (folder / name).mkdir()
    (folder / "corpus" / "a.txt").write_text("\n".join(texts[:60]) + "\n")
    (folder / "corpus" / "b.txt").write_text("\n".join([*texts[60:], "word0 word1 word2 word3"]) + "\n")
    (folder / "held-out.txt").write_text("\n".join(f"{text} king" for text in texts[:20]) + "\n")
    save_tokenizer(train_tokenizer(texts, "wordpiece", 80), str(folder / "tokenizer.json"))
    (folder / "words.txt").write_text("\n".join(words[:20]) + "\n")
    (folder / "names.txt").write_text("\n".join([*tiny_tasks.FILLERS, *tiny_tasks.NAMES]) + "\n")
    (folder / "contexts.txt").write_text("the king saw a house in london\n")
    (folder / "hosts.txt").write_text("a.org\n")
    pages = [{"text": text, "url": f"http://{'abc'[i % 3]}.org/{i}"} for i, text in enumerate(texts)]
    (folder / "web" / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    rules = [{"rule": "blocklist", "path": "hosts.txt"}]
    rules.append({"rule": "vocabulary", "path": "words.txt", "min_known_words": 0.9})
    (folder / "rules.yaml").write_text(yaml.safe_dump({"rules": rules}))
    recipe = {"model": {"architecture": "gpt2"}, "objective": {"name": "causal"}, "seed": 3}
    (folder / "recipe.yaml").write_text(yaml.safe_dump({**recipe, "text": {"sources": ["corpus"]}}))
    sizes = {"num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
    sizes |= {"architecture": "roberta", "max_position_embeddings": 32}
    masked = {"model": sizes, "objective": {"name": "masked"}}
    (folder / "masked.yaml").write_text(yaml.safe_dump({**masked, "text": {"sources": ["corpus"]}}))
    user_folder.write_text_pairs(folder / "pairs")
    tiny_tasks.write_model(folder / "model")
    tiny_tasks.write_task(folder / "cola", "cola", 60)
    tiny_study.write(folder / "tiny-study")
    shutil.copytree(folder / "tiny-study" / "corpus", folder / "study", dirs_exist_ok=True)
    shutil.move(folder / "tiny-study" / "glue", folder / "glue")
    study = yaml.safe_load((folder / "tiny-study" / "study.yaml").read_text()) | {"sources": ["study"]}
    study["shapes"]["names"] = study["shapes"]["names"][:1]
    study["pretraining"]["inits"] = ["random"]
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    labeled.write_gum(folder / "gum", 12)
    labeled.informative_vectors(labeled.TAGS).export("glove", folder / "glove.txt")


def run(command: str) -> tuple[int, str, BaseException | None]:
    """Run a command in this process; return its exit code, its output, and an exception that it did not catch."""
    outcome = bad_inputs.run(command.split())
    return outcome.code, outcome.out + outcome.err, outcome.error


def succeed(command: str) -> str:
    """Run a command, which must succeed, and return its output."""
    code, printed, error = run(command)
    assert (code, error) == (0, None), f"{command}\n{printed}\n{error!r}"
    return printed
