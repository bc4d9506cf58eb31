"""Requests as records: their arguments, with limits."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from bitcipher.files.records import Record
from bitcipher.table.keys import Oov

# Each of these words is a search of the whole table.
MAX_QUERIES = 16
MAX_TOPN = 1000

MAX_WORDS = 1000
MAX_WORD_CHARACTERS = 1000
MAX_TEXTS = 1000

# Fields of a request that are looked at. An error for each of 100,000 unknown ones would take two seconds.
MAX_FIELDS = 32

# Maximum size of the body of a request, 1 MiB. It is parsed by the thread that accepts requests.
MAX_BODY_BYTES = 1 << 20

Word = Annotated[str, StringConstraints(max_length=MAX_WORD_CHARACTERS)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
OovChoice = Literal["spelling", "token"] | None


class RequestRecord(Record):
    """Arguments of a request. Those of a query string are text, so they are converted.

    The docstring below a field is its description in `GET /openapi.json`.
    """

    model_config = ConfigDict(strict=False, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _limit_fields(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and len(fields) > MAX_FIELDS:
            raise ValueError(f"there are more than {MAX_FIELDS} fields")
        return fields


class NeighborsRequest(RequestRecord):
    """Arguments of `GET /neighbors`, which are those of `bitcipher neighbors`."""

    word: Annotated[list[Word], Field(min_length=1, max_length=MAX_QUERIES)]
    """Word to look up. Repeat for several."""
    plus: Annotated[list[Word], Field(max_length=MAX_QUERIES, default_factory=list)]
    """Word whose vector is added to each word. Repeat for several."""
    minus: Annotated[list[Word], Field(max_length=MAX_QUERIES, default_factory=list)]
    """Word whose vector is subtracted from each word. Repeat for several."""
    topn: Annotated[int, Field(ge=1, le=MAX_TOPN)] = 10
    """Number of neighbors per word."""
    case_insensitive: bool = False
    """Instead of an unknown word, take the most frequent one that differs in case."""
    oov: OovChoice = None
    """Vectors of unknown words: spelling for those from their character n-grams, token for that of `<oov>`. By default,
    those from their n-grams if the vectors have n-grams."""


class VectorsRequest(RequestRecord):
    """Arguments of `POST /vectors`."""

    words: Annotated[list[Word], Field(min_length=1, max_length=MAX_WORDS)]
    """Words, or any strings."""
    oov: OovChoice = None
    """Vectors of unknown words, as in `/neighbors`."""


class ExplainRequest(RequestRecord):
    """Arguments of `GET /explain`, which are those of `bitcipher explain`."""

    word: Word
    """Word to explain."""
    other: Word | None = None
    """Explain the similarity of both words."""
    topn: Annotated[int, Field(ge=1, le=MAX_TOPN)] = 15
    """Number of contributions of context words, and of n-grams, strongest first."""


class EncodeRequest(RequestRecord):
    """Arguments of `POST /encode`."""

    texts: Annotated[list[Text], Field(min_length=1, max_length=MAX_TEXTS)]
    """Sentences or short texts."""


def oov_of(choice: OovChoice) -> Oov | None:
    """Return the value of `oov` in the library, or None if the client has chosen nothing."""
    return True if choice == "token" else choice
