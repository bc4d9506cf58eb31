"""Question words by language and kind of answer."""

from training.studies.cloze_questions.options import Language
from training.tasks.phrases import PhraseKind

# Arabic has no capital letters, so its names are those in other scripts.
QUESTION_WORDS: dict[Language, dict[PhraseKind, tuple[str, ...]]] = {
    "en": {
        "year": ("when", "in what year"),
        "number": ("how many", "how much"),
        "name": ("who", "what", "where", "which"),
        "other": ("what", "which"),
    },
    "ar": {
        "year": ("متى", "في أي عام"),
        "number": ("كم", "كم عدد"),
        "name": ("من", "ما"),
        "other": ("ما", "من", "أين"),
    },
}
