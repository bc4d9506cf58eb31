"""Clean documents with datatrove, from archives to Parquet files. Runs in an environment with datatrove.

shard_datatrove.py FORMAT FOLDER WORK

FORMAT is warc, wet or c4. The extractor is that of datatrove's examples for CommonCrawl. Language identification is
left out, because its model must be downloaded. All steps run in one process. Prints the number of kept documents.
"""

import os
import sys
from pathlib import Path

os.environ["DATATROVE_COLORIZE_LOGS"] = "0"

import pyarrow.parquet as pq
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.extractors import Trafilatura
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
)
from datatrove.pipeline.readers import JsonlReader, WarcReader
from datatrove.pipeline.writers import ParquetWriter


def reading_steps(format: str, folder: str) -> list[PipelineStep]:
    """Return the steps that read the text of documents. datatrove reads WET files as WARC files."""
    if format == "c4":
        return [JsonlReader(folder)]
    if format == "wet":
        return [WarcReader(folder)]
    return [WarcReader(folder), Trafilatura(favour_precision=True)]


def main(format: str, folder: str, work: str) -> None:
    """Clean the documents of a folder."""
    documents = Path(work, "documents")
    steps = [
        *reading_steps(format, folder),
        GopherRepetitionFilter(),
        GopherQualityFilter(),
        # The main text of a page is extracted before, so lines need no terminal punctuation, as in FineWeb.
        C4QualityFilter(filter_no_terminal_punct=format != "warc"),
        FineWebQualityFilter(),
        ParquetWriter(str(documents)),
    ]
    LocalPipelineExecutor(steps, tasks=1, workers=1, logging_dir=f"{work}/logs").run()
    print(sum(pq.read_metadata(file).num_rows for file in documents.glob("*.parquet")))


if __name__ == "__main__":
    main(*sys.argv[1:])
