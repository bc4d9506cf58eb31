"""Command that generates text: `generate`."""

import json
from typing import Annotated

import typer

from bitcipher.errors import BitcipherError
from bitcipher.terminal import print_text
from cluster.cli.dependencies import require_extra
from cluster.cli.options import CheckpointStep, ModelFolder
from cluster.metavars import PATH


def generate(
    model: ModelFolder,
    prompt: Annotated[str | None, typer.Option(help="Text to continue.")] = None,
    prompts: Annotated[
        str | None, typer.Option(help="YAML file with inputs, a template and examples.", metavar=PATH)
    ] = None,
    shots: Annotated[int, typer.Option(min=0, help="Number of examples of the --prompts file before each input.")] = 0,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="Maximum number of new tokens.")] = 40,
    temperature: Annotated[
        float, typer.Option(min=0, help="Sampling temperature; 0 always takes the most likely token.")
    ] = 0.0,
    top_k: Annotated[
        int | None, typer.Option(min=1, help="Number of most likely tokens to sample from.", show_default="all")
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(help="Sample from the most likely tokens with this total probability.", show_default="all"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of sampling.")] = 1,
    checkpoint: CheckpointStep = None,
) -> None:
    """Generate text from a prompt, or from each prompt of a file.

    With --prompts, prints one line of JSON per prompt.
    For example: bitcipher generate runs/random-1 --prompt "the king" --temperature 0.8
    """
    if (prompt is None) == (prompts is None):
        raise BitcipherError("Give one of --prompt and --prompts.")
    if shots and prompts is None:
        raise BitcipherError("--shots needs --prompts.")
    require_extra("training", "`bitcipher generate`")
    from training.evaluation.decoding.options import DecodingOptions
    from training.evaluation.decoding.prompts import read_prompts
    from training.models.model_folder import check_model_folder

    options = DecodingOptions(
        max_new_tokens=max_new_tokens, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed
    )
    texts = [prompt or ""] if prompts is None else read_prompts(prompts).prompts(shots)
    if checkpoint is None:
        check_model_folder(model)
    from training.evaluation.decoding.generation import generate  # not at the top: the import of torch takes seconds
    from training.evaluation.decoding.stored_model import open_model

    loaded, tokenizer = open_model(model, checkpoint)
    generated = generate(loaded, tokenizer, texts, options)
    if prompts is None:
        # An encoder-decoder answers the prompt; a decoder continues it.
        print_text(generated[0] if loaded.config.is_encoder_decoder else texts[0] + generated[0])
        return
    for text, answer in zip(texts, generated, strict=True):
        print_text(json.dumps({"prompt": text, "text": answer}, ensure_ascii=False))
