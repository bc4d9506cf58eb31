"""The command that lets a language model write: `generate`."""

import json
from typing import Annotated

import typer

from bitcipher.errors import BitcipherError
from cluster.cli.dependencies import require_extra
from cluster.metavars import PATH


def generate(
    model: Annotated[
        str, typer.Argument(help="A run, or a folder of transformers with a tokenizer.json.", metavar=PATH)
    ],
    prompt: Annotated[str | None, typer.Option(help="Text to go on with.")] = None,
    prompts: Annotated[
        str | None, typer.Option(help="YAML file of inputs, a template and examples.", metavar=PATH)
    ] = None,
    shots: Annotated[int, typer.Option(min=0, help="Of --prompts: examples to show before each input.")] = 0,
    tokens: Annotated[int, typer.Option(min=1, help="New tokens at most.")] = 40,
    temperature: Annotated[
        float, typer.Option(min=0, help="0 takes the likeliest token; 1 samples as the model says, more is bolder.")
    ] = 0.0,
    top_k: Annotated[
        int | None, typer.Option(min=1, help="Sample among so many of the likeliest tokens.", show_default="all")
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(help="Sample among the likeliest tokens that together have this share.", show_default="all"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of sampling; the same seed writes the same.")] = 1,
    checkpoint: Annotated[
        int | None, typer.Option(min=0, help="Of a run: the step of the checkpoint.", show_default="the newest")
    ] = None,
) -> None:
    """Let a model write on from a prompt, or from each prompt of a file, with or without examples.

    A file's prompts are answered in JSON, a line each.
    For example: bitcipher generate runs/cold-1 --prompt "the king" --temperature 0.8
    """
    if (prompt is None) == (prompts is None):
        raise BitcipherError("Say what to write on from: --prompt or --prompts, one of them.")
    if shots and prompts is None:
        raise BitcipherError("Examples are in a file: --shots is of --prompts.")
    require_extra("training", "`bitcipher generate`")
    from training.decoding import DecodingOptions, complete, open_model, read_prompts

    options = DecodingOptions(tokens, temperature, top_k, top_p, seed)
    asked = [prompt] if prompts is None else read_prompts(prompts).prompts(shots)
    opened, tokenizer = open_model(model, checkpoint)
    written = complete(opened, tokenizer, asked, options)
    if prompts is None:
        # An encoder-decoder answers; a decoder goes on with the same text.
        print(written[0] if opened.config.is_encoder_decoder else asked[0] + written[0])
        return
    for question, answer in zip(asked, written, strict=True):
        print(json.dumps({"prompt": question, "text": answer}, ensure_ascii=False))
