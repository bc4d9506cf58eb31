"""Tokenizer of a run: loaded from a file, or trained on documents."""

from collections.abc import Iterable, Iterator

from tokenizers import Tokenizer

from pipelines.runtime.progress import StageProgress
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.data.tokenizer_options import TokenizerOptions
from training.data.train_tokenizer import sample_documents, train_tokenizer


def make_tokenizer(options: TokenizerOptions, documents: Iterable[str], progress: StageProgress) -> Tokenizer:
    """Return the tokenizer of a path, or train one.

    Args:
        options: options of the tokenizer.
        documents: training documents, which are only read if a tokenizer is trained.
        progress: progress bars.

    Raises:
        BitcipherError: if the file is no tokenizer, or no tokenizer can be trained on the documents.
    """
    if options.path is not None:
        return load_tokenizer(options.path)
    bar = progress.begin("learn", 1)
    fraction, n_documents = options.sample_fraction, 0

    def sample() -> Iterator[str]:
        nonlocal n_documents
        for document in sample_documents(documents, fraction):
            n_documents += 1
            yield document

    tokenizer = train_tokenizer(
        sample(),
        options.kind,
        options.vocab_size,
        lowercase=options.lowercase,
        sentinels=options.sentinels,
        segmentation=options.segmentation,
    )
    progress.advance(bar, 1, f"{tokenizer.get_vocab_size():,} tokens")
    if fraction < 1:
        progress.say(
            f"The tokenizer was trained on {n_documents:,} documents (`text.tokenizer.sample_fraction` {fraction:g})."
        )
    return tokenizer
