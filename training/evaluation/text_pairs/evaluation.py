"""Evaluation of an encoder-decoder on pairs of texts: generated targets, their scores, and baselines."""

import json
from collections.abc import Mapping, Sequence

from tokenizers import Tokenizer
from transformers import PreTrainedModel

from bitcipher.files import json_files, storage
from pipelines.runtime.progress import StageProgress
from training.data.pair_folder import TRAIN, VALIDATION, read_stored_pairs
from training.data.text_pairs import TextPair, count_overlap
from training.evaluation.decoding.stored_model import open_model
from training.evaluation.decoding.targets import generate_targets
from training.evaluation.text_pairs.baselines import nearest_targets
from training.evaluation.text_pairs.scores import PREDICTIONS, SCORES, TextPairScores
from training.loop.distributed import World
from training.metrics.generation import score_texts


def evaluate_text_pairs(
    model: PreTrainedModel,
    tokenizer: Tokenizer,
    pairs: Sequence[TextPair],
    train: Sequence[TextPair],
    max_new_tokens: int,
    predictions: str | None,
    progress: StageProgress,
) -> TextPairScores:
    """Generate the targets of pairs by greedy search, and score them and the baselines.

    Args:
        model: encoder-decoder; it is set to evaluation mode.
        tokenizer: tokenizer of the model.
        pairs: test pairs, at least one. A source can occur in several, whose targets are then all correct.
        train: training pairs, for the nearest-neighbor baseline and the numbers of leaked pairs; none if not known.
        max_new_tokens: maximum number of tokens of a generated text, with its end token.
        predictions: path or URI of a file to write, with a line of JSON for each source; None writes no file.
        progress: progress bars.

    Raises:
        BitcipherError: if the model is no encoder-decoder or does not match the tokenizer, or the file cannot be
            written.
    """
    references: dict[str, list[str]] = {}
    for pair in pairs:
        references.setdefault(pair.source, []).append(pair.target)
    sources, targets = list(references), list(references.values())
    bar = progress.begin("write", len(sources))
    generated = generate_targets(
        model, tokenizer, sources, max_new_tokens, lambda number: progress.advance(bar, number, "")
    )
    if predictions is not None:
        _write_predictions(predictions, references, generated)
    result = score_texts(generated, targets)
    baselines = {"copy of the source": score_texts(sources, targets).scores}
    if train:
        nearest = nearest_targets(sources, train)
        baselines["target of the nearest training source"] = score_texts(nearest, targets).scores
    overlap = count_overlap(pairs, train) if train else None
    return TextPairScores(
        pairs=len(pairs),
        sources=len(sources),
        scores=result.scores,
        baselines=baselines,
        signatures=result.signatures,
        leaked_pairs=overlap and overlap.pairs,
        leaked_sources=overlap and overlap.sources,
    )


def score_run(folder: str, text: str, device: str, max_new_tokens: int, progress: StageProgress) -> TextPairScores:
    """Evaluate the latest checkpoint of a run on its validation pairs; write `predictions.jsonl` and the scores.

    Args:
        folder: path or URI of the run.
        text: folder of the prepared pairs.
        device: device of the model, see `LoopOptions.device`.
        max_new_tokens: maximum number of tokens of a generated text, with its end token.
        progress: progress bars.
    """
    model, tokenizer = open_model(folder)
    result = evaluate_text_pairs(
        model.to(World.current(device).device),
        tokenizer,
        read_stored_pairs(text, VALIDATION),
        read_stored_pairs(text, TRAIN),
        max_new_tokens,
        storage.join(folder, PREDICTIONS),
        progress,
    )
    json_files.write(storage.join(folder, SCORES), result.to_dict())
    return result


def _write_predictions(uri: str, references: Mapping[str, Sequence[str]], generated: Sequence[str]) -> None:
    with storage.writing(uri) as stream:
        for (source, targets), text in zip(references.items(), generated, strict=True):
            line = {"source": source, "targets": targets, "prediction": text}
            stream.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
