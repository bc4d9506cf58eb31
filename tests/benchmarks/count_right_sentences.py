"""Count predicted answers that begin in the right sentence, by the number of rare words that the sentence shares.

    python tests/benchmarks/count_right_sentences.py squad/dev-v1.1.json.gz runs/squad-1 runs/squad-2

A right sentence is one in which an answer of the question begins. Rare words are in less than a thirtieth of the
sentences. The column "shared words" chooses, without a model, the sentence whose shared words have the largest sum of
logarithmic inverse sentence frequencies. Prints percentages of questions, by the number of rare words that the question
shares with the first right sentence.
"""

import argparse
import json
import math
from bisect import bisect_right
from collections import Counter, defaultdict
from pathlib import Path

from make_qnli import words_of

from training.tasks.sentence_spans import sentence_spans
from training.tasks.squad import Question, read_squad

RARE_FRACTION = 1 / 30
MAX_SHARED = 7


def predicted_starts(run: Path) -> dict[str, int]:
    """Return the first character of each predicted answer, by the question's id."""
    content = json.loads((run / "predictions.json").read_text(encoding="utf-8"))
    return {entry["id"]: entry["candidates"][0]["start"] for entry in content["predictions"]}


def count(questions: list[Question], runs: list[dict[str, int]]) -> dict[str, list[list[bool]]]:
    """Return, for each question, whether word overlap and each run choose a right sentence, by shared rare words."""
    spans = {question.context: sentence_spans(question.context) for question in questions}
    sentences = {text: [words_of(text[slice(*span)]) for span in each] for text, each in spans.items()}
    counts = Counter(word for each in sentences.values() for words in each for word in words)
    n_sentences = sum(map(len, sentences.values()))
    rows = defaultdict(list)
    for question in questions:
        ends = [end for _, end in spans[question.context]]
        right = {bisect_right(ends, start) for start, _ in question.spans}
        shared = [words & words_of(question.question) for words in sentences[question.context]]
        weights = [math.fsum(math.log(n_sentences / counts[word]) for word in words) for words in shared]
        chosen = [weights.index(max(weights)), *(bisect_right(ends, run[question.number]) for run in runs)]
        n_rare = sum(counts[word] < RARE_FRACTION * n_sentences for word in shared[min(right)])
        rows[f"{n_rare}" if n_rare < MAX_SHARED else f"{MAX_SHARED} or more"].append([each in right for each in chosen])
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", help="file in SQuAD's format, which the runs were evaluated on")
    parser.add_argument("runs", nargs="+", type=Path, help="folders of runs of bitcipher finetune")
    options = parser.parse_args()
    questions = [question for question in read_squad(options.questions).questions if question.spans]
    rows = count(questions, [predicted_starts(run) for run in options.runs])
    rows["all"] = [row for each in rows.values() for row in each]
    print("rare words", "questions", "shared words", *options.runs, sep="\t")
    for name, hits in sorted(rows.items()):
        percentages = (f"{100 * sum(column) / len(hits):.0f}" for column in zip(*hits, strict=True))
        print(name, len(hits), *percentages, sep="\t")


if __name__ == "__main__":
    main()
