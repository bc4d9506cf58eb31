"""Fine-tuning tasks that a tiny model learns in seconds, in the published file formats, and models for them."""

import json
from pathlib import Path

import numpy as np

from pipelines.tokenizers.tokenizer_json import vocab_size
from training.data.special_tokens import special_tokens
from training.data.tokenizer_files import save_tokenizer
from training.data.train_tokenizer import train_tokenizer
from training.models.build import build_model
from training.models.checkpoint import save_model
from training.models.options import ModelOptions

FILLERS = ("the", "house", "runs", "over", "blue", "hills", "and", "sees", "many", "dogs")
NAMES = ("peter", "maria", "london", "oslo")
# Labels of `NAMES` in the CoNLL-2003 format.
TAGS = {"peter": "I-PER", "maria": "I-PER", "london": "I-LOC", "oslo": "I-LOC"}
TASKS = ("cola", "stsb", "squad", "squad2", "arcd", "entities")


def write_model(folder: Path, architecture: str = "roberta", *, seed: int = 7, **changed) -> Path:
    """Write a model with random weights and its tokenizer as a transformers directory."""
    tokenizer = train_tokenizer([" ".join((*FILLERS, *NAMES, "who", "is", "here"))], "wordpiece", 120)
    sizes = {
        "num_hidden_layers": 1,
        "hidden_size": 32,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 32,
        "dropout": 0.1,
    } | changed
    options = ModelOptions(architecture=architecture, **sizes)
    model = build_model(options, special_tokens(tokenizer), vocab_size(tokenizer), seed)
    save_model(model, str(folder))
    save_tokenizer(tokenizer, str(folder / "tokenizer.json"))
    return folder


def write_task(folder: Path, name: str, number: int = 160) -> Path:
    """Write the files of one of `TASKS`, of SST-2 or of QNLI.

    A CoLA sentence is acceptable, an SST-2 sentence positive, and a QNLI sentence an answer, if it contains peter or
    maria. Two STS-B sentences are similar if the second one contains peter or maria. The answer to each question is the
    name in the context, if there is one (some SQuAD 2.0 contexts have none).
    """
    folder.mkdir(parents=True, exist_ok=True)
    for seed, part in enumerate(("train", "dev")):
        random = np.random.default_rng(seed)
        sentences = [_sentence(random) for _ in range(number if part == "train" else number // 2)]
        if name == "cola":
            lines = [f"made\t{int(TAGS[name] == 'I-PER')}\t\t{' '.join(words)}" for words, name in sentences]
            (folder / f"{part}.tsv").write_text("\n".join(lines) + "\n")
        elif name == "sst2":
            lines = [f"{' '.join(words)}\t{int(TAGS[name] == 'I-PER')}" for words, name in sentences]
            (folder / f"{part}.tsv").write_text("\n".join(["sentence\tlabel", *lines]) + "\n")
        elif name == "qnli":
            rows = [
                f"0\tWho?\t{' '.join(words)}\t{'not_' * (TAGS[name] == 'I-LOC')}entailment" for words, name in sentences
            ]
            (folder / f"{part}.tsv").write_text("\n".join(["index\tquestion\tsentence\tlabel", *rows]))
        elif name == "stsb":
            _write_pairs(folder / f"{part}.tsv", sentences, random)
        elif name == "entities":
            lines = [line for words, _ in sentences for line in (*(f"{w} X X {TAGS.get(w, 'O')}" for w in words), "")]
            (folder / {"train": "eng.train", "dev": "eng.testa"}[part]).write_text("\n".join(lines))
        else:
            asked = [_question(number, words, who, random, name) for number, (words, who) in enumerate(sentences)]
            arcd = {"train": "arcd-train", "dev": "arcd-test"}[part]
            file = {"squad": f"{part}-v1.1", "squad2": f"{part}-v2.0", "arcd": arcd}[name]
            (folder / f"{file}.json").write_text(json.dumps({"data": [{"paragraphs": asked}]}))
    return folder


def _sentence(random: np.random.Generator) -> tuple[list[str], str]:
    words = list(random.choice(FILLERS, random.integers(3, 8)))
    name = str(random.choice(NAMES))
    words.insert(int(random.integers(len(words) + 1)), name)
    return [str(word) for word in words], name


def _write_pairs(path: Path, sentences: list, random: np.random.Generator) -> None:
    names = "index genre filename year old_index source1 source2 sentence1 sentence2 score".split()
    lines = ["\t".join(names)]
    for words, name in sentences:
        other = name if random.random() < 0.5 else str(random.choice(NAMES))
        score = 4.5 if other in ("peter", "maria") else 0.5
        lines.append("\t".join([*"0000000", " ".join(words), f"{other} runs", str(score)]))
    path.write_text("\n".join(lines) + "\n")


def _question(number: int, words: list[str], name: str, random: np.random.Generator, task: str) -> dict:
    answers = [{"text": name, "answer_start": " ".join(words).find(name)}]
    if task == "squad2" and random.random() < 0.5:
        words, answers = [word for word in words if word != name], []
    return {"context": " ".join(words), "qas": [{"id": str(number), "question": "who is here", "answers": answers}]}
