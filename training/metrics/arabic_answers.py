"""Normalization of Arabic answers, and the sentence match of ARCD (Mozannar et al. 2019, section 6)."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from training.metrics.question_answering import normalize

_TATWEEL = "\u0640"
_ALEF_FORMS = str.maketrans("أإآٱ", "اااا")
# The article, after which at least two letters remain.
_ARTICLE = re.compile(r"\bال(?=\w\w)")


def normalize_arabic(text: str) -> str:
    """Return an answer as SQuAD's scripts normalize it, and also without what Arabic spelling leaves open.

    Diacritics and tatweel are removed, all forms of alef become a bare alef, and all punctuation, such as ، and «», and
    the article at the beginning of a word are removed.

    Examples:
        >>> normalize_arabic("«المدينة المُنوّرة»،")
        'مدينة منورة'
    """
    # The hamza of a decomposed alef is a mark, too.
    letters = unicodedata.normalize("NFKC", text).translate(_ALEF_FORMS)
    categories = ((letter, unicodedata.category(letter)) for letter in letters)
    kept = (letter for letter, category in categories if category[0] not in "MP" and letter != _TATWEEL)
    return normalize(_ARTICLE.sub("", "".join(kept)))


def sentence_match(
    starts: Sequence[Sequence[int]], golds: Sequence[Sequence[int]], predicted: Sequence[int | None]
) -> float:
    """Return the share of predicted answers that begin in the sentence of a correct answer, in percent.

    ARCD's script looks for the texts of both answers in the sentences of the context, and compares the last sentences
    that contain them. Here, positions decide, so a word that occurs in several sentences counts only where it is.

    Args:
        starts: for each question, the first characters of the sentences of its context, ascending.
        golds: for each question, the first characters of its correct answers.
        predicted: first character of the predicted answer of each question; None without an answer.
    """
    matches = [
        position is not None and bisect_right(sentences, position) in {bisect_right(sentences, gold) for gold in g}
        for sentences, g, position in zip(starts, golds, predicted, strict=True)
    ]
    return 100 * sum(matches) / len(matches) if matches else 0.0
