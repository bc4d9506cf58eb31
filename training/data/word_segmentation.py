"""Segmentation of words into stems and affixes, as steps of a tokenizer.

A normalizer of the tokenizer splits words, and its decoder joins them again. So `tokenizer.json` segments the text
wherever it is used, and the offsets of tokens are those of the original text.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from tokenizers import NormalizedString, decoders, normalizers
from tokenizers.decoders import Decoder
from tokenizers.normalizers import Normalizer

from bitcipher.errors import BitcipherError
from training.data import arabic_affixes

SegmentationName = Literal["arabic"]
SEGMENTATIONS: tuple[str, ...] = get_args(SegmentationName)

# Mark of affixes: U+FF0B instead of the plus sign of Farasa and AraBERT. "a + b" is text, and could not be restored. In
# text, U+FF0B becomes a plus sign before the segmentation, as in NFKC.
MARK = "\N{FULLWIDTH PLUS SIGN}"


@dataclass(frozen=True)
class WordSegmentation:
    """Steps of a tokenizer that write affixes as words of their own: prefixes as `ال＋`, suffixes as `＋ها`.

    It depends on the word only, so it is deterministic. `restore` inverts `segment` exactly.
    """

    steps: tuple[Normalizer, ...]
    """Normalizers that write the marks, after the other normalizers of the tokenizer."""

    prefixes: tuple[str, ...]
    suffixes: tuple[str, ...]

    @property
    def tokens(self) -> tuple[str, ...]:
        """Tokens of the affixes, where ▁ is a space. Before a prefix, there can be an opening bracket or quote."""
        prefixes = [prefix + MARK for prefix in self.prefixes]
        suffixes = [f"▁{MARK}{suffix}" for suffix in self.suffixes]
        return (*(f"▁{prefix}" for prefix in prefixes), *prefixes, *suffixes)

    @cached_property
    def _normalizer(self) -> Normalizer:
        return normalizers.Sequence(list(self.steps))

    @property
    def decoding(self) -> tuple[Decoder, ...]:
        """Decoders that remove the marks, after the other decoders of the tokenizer."""
        # Generated text can have a mark without a stem, so the marks that remain are removed, too.
        patterns = (f"{MARK} ", f" {MARK}", MARK)
        return (decoders.Fuse(), *(decoders.Replace(pattern, "") for pattern in patterns))

    def segment(self, text: str) -> str:
        """Return a text with its affixes as words of their own.

        Examples:
            >>> word_segmentation("arabic").segment("وكتابها في المدرسة")
            'و＋ كتاب ＋ها في ال＋ مدرس ＋ة'
        """
        content = NormalizedString(text)
        self._normalizer.normalize(content)
        return content.normalized

    def restore(self, text: str) -> str:
        """Return the text that was segmented. Its fullwidth plus signs have become plus signs."""
        return text.replace(f"{MARK} ", "").replace(f" {MARK}", "")


def word_segmentation(name: str) -> WordSegmentation:
    """Return the segmentation of a language.

    Raises:
        BitcipherError: if there is none of this name.
    """
    if name not in SEGMENTATIONS:
        raise BitcipherError(f"`segmentation` must be one of {', '.join(SEGMENTATIONS)}, got {name!r}.")
    steps = (normalizers.Replace(MARK, "+"), *arabic_affixes.steps(MARK))
    return WordSegmentation(steps, arabic_affixes.PREFIXES, arabic_affixes.SUFFIXES)
