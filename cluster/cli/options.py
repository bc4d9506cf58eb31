"""The options that several commands have."""

from typing import Annotated

import typer

# How help shows a file or folder that may lie anywhere. `bitcipher submit` also knows by it which of a command's
# arguments are places (see `cluster.jobs.job_paths`), for a relative path means another place on a cluster.
PATH = "PATH"
NAME_OR_PATH = f"NAME_OR_{PATH}"
VERSION_OR_PATH = f"VERSION_OR_{PATH}"

Format = Annotated[
    str | None,
    typer.Option(help="text, jsonl, parquet or wet for all sources.", show_default="told by each file's ending"),
]
Document = Annotated[
    str | None, typer.Option(help="In plain text, what a document is: line or file.", show_default="line")
]
Field = Annotated[
    str | None,
    typer.Option(help="The field of JSON lines, or column of Parquet, that holds the text.", show_default="text"),
]
TokenizerName = Annotated[
    str | None,
    typer.Option(
        help="spacy, spacy-exact, whitespace, or the path of a Hugging Face tokenizer.json.",
        show_default="spacy",
        metavar=NAME_OR_PATH,
    ),
]
Lowercase = Annotated[bool | None, typer.Option(help="Lower-case tokens.", show_default="lowercase")]
MinCount = Annotated[int | None, typer.Option(help="Words that occur less often become <oov>.", show_default="5")]
MaxSize = Annotated[int | None, typer.Option(help="Keep that many words at most.", show_default="no limit")]
Summed = Annotated[
    bool | None,
    typer.Option(
        help="Count all offsets into one matrix, for wide windows (radius up to 128). It gives mode sum, and spectral "
        "of the window alone.",
        show_default="no-summed",
    ),
]
ShardMegabytes = Annotated[
    int | None,
    typer.Option(help="Text in a shard: what is counted again when a worker dies.", show_default="64"),
]
Bits = Annotated[
    int | None,
    typer.Option(
        help="Not of mode spectral. Bits of the code: mode cat has 2 x radius x bits dimensions, sum and cipher have "
        "as many as bits.",
        show_default="25",
    ),
]
Dimensions = Annotated[
    int | None, typer.Option(help="Of mode spectral: dimensions of the vectors.", show_default="200")
]
Context = Annotated[
    str | None,
    typer.Option(
        help="Of mode spectral. positions: each offset on its own, which tells parts of speech; window: all offsets "
        "added up, which tells meaning; both: side by side.",
        show_default="both",
    ),
]
Radius = Annotated[int | None, typer.Option(help="The farthest context word on either side.", show_default="4")]
Mode = Annotated[
    str | None,
    typer.Option(
        help="spectral: the leading directions of the weighed counts, the best vectors; cat: a block of dimensions for "
        "each offset, the fastest that know context; sum: all offsets in one; cipher: the code alone, without context.",
        show_default="spectral",
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        help="Not of mode spectral. How far codes are trusted: document_share, frequency, document_ratio or none.",
        show_default="document_share",
    ),
]
Log = Annotated[
    str | None,
    typer.Option(
        help="Not of mode spectral. aggregate: log of each block's shares; counts: log of counts, before they are "
        "added; none.",
        show_default="aggregate",
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        min=0,
        help="Ray workers of a stage; 0 runs in this process. "
        "In a Ray job, or with RAY_ADDRESS set, they run on that cluster.",
    ),
]
Version = Annotated[int | None, typer.Option(min=1, help="Of a build.", show_default="the newest")]
MemoryMegabytes = Annotated[
    int | None,
    typer.Option(
        help="Memory of each worker; what does not fit is counted in slices, and merged and weighed in ranges.",
        show_default="1500",
    ),
]
# Not by Typer's `envvar`: RAY_ADDRESS may also be where Ray's own processes meet, which is no place for jobs.
Address = Annotated[
    str | None,
    typer.Option(
        help="The dashboard of the cluster, such as http://127.0.0.1:8265; "
        "else RAY_API_SERVER_ADDRESS, or RAY_ADDRESS if that is an http address."
    ),
]
