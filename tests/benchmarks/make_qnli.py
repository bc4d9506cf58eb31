"""Make training pairs for QNLI from questions of SQuAD, for a copy of GLUE that has QNLI's dev split only.

    python tests/benchmarks/make_qnli.py squad/train-v1.1.json.gz glue/QNLI --out QNLI

As in GLUE (Wang et al. 2019, section 3.3), a pair is a question and a sentence of its context, which contains the
answer (`entailment`) or not. Each question gives two pairs: the sentence with the answer, and, of the other sentences,
the one that shares most words with the question. QNLI's dev split comes from other articles. Prints the number of
pairs.
"""

import argparse
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from training.tasks.sentence_spans import sentence_spans
from training.tasks.squad import Question, read_squad


def words_of(text: str) -> set[str]:
    """Return the distinct words of a text in lower case."""
    return set(re.findall(r"\w+", text.lower()))


def pairs_of(question: Question) -> Iterator[tuple[str, str]]:
    """Yield a sentence and its label for the sentence with the answer and the most similar other one, if both exist."""
    start, end = question.spans[0]
    spans = sentence_spans(question.context)
    holding = next((span for span in spans if span[0] <= start and end <= span[1]), None)
    others = [question.context[slice(*span)] for span in spans if span != holding]
    if holding and others:
        asked = words_of(question.question)
        yield question.context[slice(*holding)], "entailment"
        yield max(others, key=lambda sentence: len(words_of(sentence) & asked)), "not_entailment"


def main() -> None:
    """Write train.tsv, and copy dev.tsv."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", help="file of SQuAD 1.1's training questions")
    parser.add_argument("qnli", type=Path, help="folder with QNLI's dev.tsv")
    parser.add_argument("--out", type=Path, required=True, help="folder for train.tsv and dev.tsv")
    options = parser.parse_args()
    questions = [question for question in read_squad(options.questions).questions if question.spans]
    pairs = [(question.question, *pair) for question in questions for pair in pairs_of(question)]
    rows = [(str(number), *map(" ".join, map(str.split, pair))) for number, pair in enumerate(pairs)]
    options.out.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(row) + "\n" for row in [("index", "question", "sentence", "label"), *rows]]
    (options.out / "train.tsv").write_text("".join(lines), encoding="utf-8")
    shutil.copy(options.qnli / "dev.tsv", options.out)
    print(f"{len(pairs):,} pairs")


if __name__ == "__main__":
    main()
