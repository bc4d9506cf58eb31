"""Options of cloze questions."""

from typing import Literal

from pydantic import Field

from bitcipher.files.records import Float
from pipelines.ingest.read_options import ReadOptions

Language = Literal["en", "ar"]


class ClozeOptions(ReadOptions):
    """Options of the readers of the text, and the number and form of the questions."""

    questions_per_context: int = Field(2, ge=1)
    """Maximum number of questions about a context; a context with fewer answers has fewer."""
    context_words: int = Field(110, ge=20)
    """Number of words of a context, which ends with the sentence that reaches it."""
    restatements: bool = False
    """Ask only questions whose answer is in another context of the document, too, in a sentence with some of the
    question's words, and ask them about that context."""
    unanswerable_fraction: Float = Field(0.0, ge=0, lt=1)
    """Fraction of the questions that are moved to another context of the document, which does not contain the answer.
    If it is above 0, the files have the names of SQuAD 2.0."""
    validation_fraction: Float = Field(0.01, gt=0, lt=1)
    """Fraction of the documents whose questions are in the validation file."""
    language: Language = "en"
    """Language of the question words."""
    seed: int = 1
    """Seed of all random choices."""
