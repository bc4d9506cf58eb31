"""Pre-trained reference tokenizers, loaded from files without network access."""

from collections.abc import Sequence

from tokenizers import Tokenizer
from tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer

from bitcipher.errors import BitcipherError
from bitcipher.files.text_files import read_lines
from pipelines.tokenizers.tokenizer_json import load_tokenizer

# Type of the model in a tokenizer.json, by kind.
MODELS = {"bpe": "BPE", "wordpiece": "WordPiece", "unigram": "Unigram"}


def parse_references(texts: Sequence[str]) -> dict[str, str]:
    """Return paths or URIs by kind, from strings such as "bpe=roberta-base/tokenizer.json".

    Raises:
        BitcipherError: if a string is malformed, or a kind occurs twice.
    """
    references: dict[str, str] = {}
    for text in texts:
        kind, _, uri = text.partition("=")
        if kind not in MODELS or not uri:
            raise BitcipherError(
                f"A reference must be KIND=PATH, where KIND is one of {', '.join(MODELS)}, got {text!r}."
            )
        if kind in references:
            raise BitcipherError(f"There are two references of kind {kind}; remove one of them.")
        references[kind] = uri
    return references


def load_reference(kind: str, uri: str) -> Tokenizer:
    """Load the reference tokenizer of a kind.

    Args:
        kind: bpe, wordpiece or unigram.
        uri: path or URI of a tokenizer.json, or of BERT's vocab.txt.

    Raises:
        BitcipherError: if the file is missing or damaged, or the tokenizer is of another kind.
    """
    tokenizer = _read_bert_vocabulary(uri) if uri.endswith(".txt") else load_tokenizer(uri)
    model = type(tokenizer.model).__name__
    if model != MODELS[kind]:
        raise BitcipherError(
            f"The reference of kind {kind} must be a tokenizer of model {MODELS[kind]}, but {uri} is of model {model}."
        )
    return tokenizer


def _read_bert_vocabulary(uri: str) -> Tokenizer:
    """Return BERT's tokenizer with the pieces of a vocab.txt, one per line.

    Text is lowercased if no piece has a capital letter, as in BERT's uncased models.
    """
    vocabulary = {piece: number for number, piece in enumerate(read_lines(uri)) if piece}
    if missing := {"[UNK]", "[CLS]", "[SEP]"} - set(vocabulary):
        raise BitcipherError(f"{uri} has no piece {min(missing)}; use the vocab.txt of a BERT model.")
    is_uncased = not any(piece != piece.lower() for piece in vocabulary if not piece.startswith("["))
    bert = BertWordPieceTokenizer(vocabulary, lowercase=is_uncased, strip_accents=is_uncased)
    return Tokenizer.from_str(bert.to_str())
