"""`make_tokenizer`: a Hugging Face tokenizer of whole words, whose tokens are almost those of a build.

Text is split at whitespace into chunks, and each chunk into tokens on its own.
"""

import re
from itertools import islice
from typing import TYPE_CHECKING

from bitcipher.normalization import INVISIBLE_PATTERN, normalize
from bitcipher.vocabulary import OOV

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Approximation of spaCy's English tokenizer within a whitespace-separated chunk: 997 of 1,000 tokens of a novel are the
# same. It splits off the ends of contractions, punctuation before and after a word, hyphens between letters, and the
# period of a sentence, but not that of the abbreviations in the vocabulary.
SPLITS = (
    r"n['’]t$|['’](?:s|re|ve|ll|d|m)$|(?<=^can)not$"
    r"|^[\"'“”‘’«»(\[{<*_$£€#]|[\"'“”‘’«»)\]}>,;:!?…*_%%]$|(?<=\w\w)%s\.$"
    r"|(?<=\p{L})(?:-|--|–|—)(?=\p{L})|--+|—"
)
# Number of times that the splits are applied, since a chunk such as `house."` or `don't,"` needs several in turn.
SPLIT_ROUNDS = 3
# Maximum number of abbreviations, the most frequent ones, since the pattern tries each of them at every period. Builds
# with spaCy's tokenizer have about 50.
MAX_ABBREVIATIONS = 100

# Prefix of a piece that continues a word, as in BERT's vocabularies.
PIECE = "##"
# Longer words are unknown if words are split into pieces, as in BERT's tokenizer: the time grows with their square.
MAX_SPLIT_CHARACTERS = 100


def make_tokenizer(words: list[str], whitespace_only: bool, split_unknown: bool = False) -> "Tokenizer":
    """Return a tokenizer whose token ids are row numbers.

    Args:
        words: all words, in order of their rows. `<oov>`, the unknown token, is among them.
        whitespace_only: whether text is split only at whitespace.
        split_unknown: whether an unknown word is split into its longest prefix among `words` and pieces with the prefix
            `##` (WordPiece).
    """
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

    rows = {word: row for row, word in enumerate(words)}
    if split_unknown:
        model = models.WordPiece(
            rows,
            unk_token=OOV,
            max_input_chars_per_word=MAX_SPLIT_CHARACTERS,
            continuing_subword_prefix=PIECE,
        )
    else:
        model = models.WordLevel(rows, unk_token=OOV)
    tokenizer = Tokenizer(model)
    normalizing = []
    if all(word == normalize(word) for word in words):
        normalizing += [normalizers.Replace(Regex(INVISIBLE_PATTERN), ""), normalizers.NFC()]
    if all(word == word.lower() for word in words):
        normalizing.append(normalizers.Lowercase())
    if normalizing:
        tokenizer.normalizer = normalizers.Sequence(normalizing)
    steps = [pre_tokenizers.WhitespaceSplit()]
    if not whitespace_only:
        abbreviations = (rf"\b{re.escape(word[:-1])}" for word in words if re.fullmatch(r"\w\w+\.", word))
        unless = "|".join(islice(abbreviations, MAX_ABBREVIATIONS))
        unless = f"(?<!{unless})" if unless else ""
        steps += [pre_tokenizers.Split(Regex(SPLITS % unless), "isolated")] * SPLIT_ROUNDS
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.add_special_tokens([AddedToken(OOV, special=True, normalized=False)])
    return tokenizer
