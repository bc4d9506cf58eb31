"""Directory with the files that READMEs and examples refer to: text and evaluation data."""

import gzip
import json
import re
from pathlib import Path

import labeled
from web_pages import page, warc, wet

ROOT = Path(__file__).parents[1]

WORDS = "two three house street king queen man woman said saw london oslo went the a of and to in she he it".split()
TEXTS = 300


def write_corpus(file: Path) -> None:
    """Write JSON lines of a few English words and of the words of labeled corpora."""
    english = (" ".join(WORDS[(i * j) % len(WORDS)] for j in range(1, 60)) for i in range(1, TEXTS + 1))
    invented = (" ".join(word for word, _ in s) for s in labeled.sentences(labeled.TAGS, 9, TEXTS))
    lines = (json.dumps({"text": f"{a} {b}"}) + "\n" for a, b in zip(english, invented, strict=True))
    file.parent.mkdir()
    file.write_bytes(gzip.compress("".join(lines).encode()))


def write_restated(file: Path) -> None:
    """Write documents whose second half says something about words of their first half."""
    other = " ".join(f"The road of king {number} was long and the queen was near." for number in range(12))
    first = "In the harbor of Port{0} the ferry{0} was a gift of the mayor{0} and the baker{0}."
    second = "And to the ferry{0} of the baker{0} in Port{0} the miller{0} was on the way."
    texts = [" ".join((first, other, second, other)).format(number) for number in range(40)]
    file.write_bytes(gzip.compress("".join(json.dumps({"text": text}) + "\n" for text in texts).encode()))


def write_crawl(folder: Path) -> None:
    """Write a WET and a WARC file of English pages, some of them twice."""
    folder.mkdir()
    pages = [page(number % 50) for number in range(60)]
    (folder / "part-0.warc.wet.gz").write_bytes(wet(*pages))
    (folder / "part-0.warc.gz").write_bytes(warc(*pages))


def write_evaluations(file: Path) -> None:
    """Write evaluations with the columns of the downscaling study, and losses on a power law with a break."""
    sizes = "embedding_size,hidden_size,intermediate_size,num_hidden_layers,num_attention_heads"
    lines = [f"{sizes},Total parameters,Tokens,FLOPS Hoffman total,eval/loss"]
    for width, parameters in ((32, 1_200_000), (64, 2_600_000), (128, 6_000_000), (256, 16_000_000)):
        for tokens in (4_000_000 * 2**doublings for doublings in range(9)):
            flops = 6 * parameters * tokens
            loss = 6 * (flops / 2.2e15) ** (-0.09 if flops < 2.2e15 else -0.14) * (1 + parameters % 7 / 1000)
            lines.append(f"{width},{width},{4 * width},2,2,{parameters},{tokens},{flops},{loss}")
    file.write_text("\n".join(lines) + "\n")


def write_minimal_pairs(folder: Path) -> None:
    """Write minimal pairs in BLiMP's format."""
    folder.mkdir()
    pair = {
        "sentence_good": "the king saw a house",
        "sentence_bad": "king the saw a house",
        "linguistics_term": "order",
    }
    (folder / "order.jsonl").write_text(json.dumps(pair) + "\n")


def write_text_pairs(folder: Path, names: str = "source\ttarget") -> None:
    """Write pairs of texts, one of which is in both files, below the names of their columns."""
    folder.mkdir()
    pairs = [f"{a} {b}\t{a.upper()} {b.upper()}" for a in WORDS[:12] for b in WORDS[12:20]]
    (folder / "train.tsv").write_text("\n".join([names, *pairs[::2], *pairs[1::4]]) + "\n")
    (folder / "test.tsv").write_text("\n".join([names, *pairs[3::4], pairs[0]]) + "\n")


def write_questions(folder: Path) -> None:
    """Write labeled texts, and a template of prompts for them."""
    texts = [f"{text}\t{number % 2}" for number, text in enumerate(["the king", "a house", "a queen", "london"] * 3)]
    (folder / "questions.tsv").write_text("\n".join(["text\tlabel", *texts]) + "\n")
    (folder / "questions.yaml").write_text('template: "{text} is a {label}. "\nlabels: {0: man, 1: street}\n')


def write_labeled_sentences(file: Path) -> None:
    """Write sentences with labels at two levels as JSON lines."""
    rows = [
        {"text": f"the {a} sees a {b}", "label_coarse": a[0], "label_fine": a} for a in WORDS[:4] for b in WORDS[4:24]
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_words(file: Path) -> None:
    """Write all alphabetic words of that corpus, one per line."""
    file.write_text("\n".join([*WORDS, re.sub(r"\d", "", labeled.word(0))]))


def write_first_recipe(folder: Path) -> None:
    """Write the recipe of a first training run, under the name that its README uses."""
    (recipe,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "training" / "README.md").read_text(), re.DOTALL)
    (folder / "first.yaml").write_text(recipe)


def write_labeled(folder: Path) -> None:
    """Write evaluation data, vectors of another tool, and sentences, under the names that the examples use."""
    labeled.write_gum(folder / "gum", 40)
    labeled.write_conll2003(folder / "conll2003", 40)
    labeled.informative_vectors(labeled.TAGS).export("glove", folder / "glove.6B.200d.txt")
    (folder / "similarity").mkdir()
    pairs = "".join(f"word{number}\tword{number + 1}\t{number}\n" for number in range(10))
    (folder / "similarity" / "pairs.txt").write_text(pairs)
    (folder / "questions-words.txt").write_text(": four apart\nword0 word4 word8 word12\n")
    (folder / "sentences.txt").write_text("the king saw a wampimuk in london\nthree wampimuk went to the house\n")
