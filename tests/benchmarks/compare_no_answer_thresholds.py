"""Compare F1 on SQuAD 2.0 with thresholds for no answer that were chosen on the same, on other, or on no questions.

    python tests/benchmarks/compare_no_answer_thresholds.py squad2/dev-v2.0.json.gz runs/squad2-1 runs/squad2-2

"best" is F1 at the threshold that is best for all questions, which is optimistic. "other half" is F1 of the questions
of every second article at the threshold that is best for the other articles, and the reverse. "none" answers a question
if its answer is more likely than no answer.
"""

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

from training.metrics.question_answering import scores_with_no_answers


def read_halves(path: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the correct answers of the questions of every second article, and of the others, by id."""
    halves: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    for number, article in enumerate(json.loads(gzip.decompress(path.read_bytes()))["data"]):
        questions = [question for paragraph in article["paragraphs"] for question in paragraph["qas"]]
        halves[number % 2].update({each["id"]: [answer["text"] for answer in each["answers"]] for each in questions})
    return halves


def measure(answers: dict[str, list[str]], predictions: dict[str, Any], threshold: float) -> dict[str, float]:
    """Return the metrics of evaluate-v2.0 of the predictions for some questions."""
    found = [predictions[number] for number in answers]
    texts = [entry["candidates"][0]["text"] for entry in found]
    return scores_with_no_answers([*answers.values()], texts, [entry["no_answer_score"] for entry in found], threshold)


def compare(halves: tuple[dict[str, list[str]], dict[str, list[str]]], run: Path) -> tuple[float, float, float]:
    """Return F1 of a run at the best threshold, at that of the other half, and without a threshold."""
    content = json.loads((run / "predictions.json").read_text(encoding="utf-8"))
    predictions = {entry["id"]: entry for entry in content["predictions"]}
    first, second = halves
    every = measure(first | second, predictions, 0.0)
    crossed = [
        measure(of, predictions, measure(other, predictions, 0.0)["best_f1_thresh"])["f1"] * len(of)
        for of, other in ((first, second), (second, first))
    ]
    return every["best_f1"], sum(crossed) / len(predictions), every["f1"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, help="file of SQuAD 2.0, gzip, which the runs were evaluated on")
    parser.add_argument("runs", nargs="+", type=Path, help="folders of runs of bitcipher finetune --task squad2")
    options = parser.parse_args()
    halves = read_halves(options.questions)
    print("run", "best", "other half", "none", sep="\t")
    for run in options.runs:
        print(run, *(f"{value:.1f}" for value in compare(halves, run)), sep="\t")


if __name__ == "__main__":
    main()
