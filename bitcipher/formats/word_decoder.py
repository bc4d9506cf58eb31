"""Decoding of the words of a file. Bytes that are not valid are an error, or damage that never makes words equal."""

from collections.abc import Sequence

from bitcipher.errors import BitcipherError

# Ways to treat bytes that are not valid, named as by Python and gensim.
ERRORS = ("strict", "replace", "ignore")


class WordDecoder:
    """Decodes words, and counts those with bytes that are not valid.

    Args:
        uri: the file, for error messages.
        codec: encoding of the words.
        errors: "strict" to refuse bytes that are not valid, "replace" to read them as U+FFFD, "ignore" to leave them
            out.
        unit: what `decode` gets the numbers of: "Line" or "Word".

    Raises:
        BitcipherError: if there is no such way to treat these bytes.
    """

    def __init__(self, uri: str, codec: str, errors: str, unit: str):
        if errors not in ERRORS:
            raise BitcipherError(f"`unicode_errors` must be one of {', '.join(ERRORS)}, got {errors!r}.")
        self._uri, self._codec, self._errors, self._unit = uri, codec, errors, unit
        self._bytes_of: dict[str, bytes] = {}
        self.damaged = 0
        """Number of words with bytes that are not valid."""

    def decode(self, words: Sequence[bytes], numbers: Sequence[int]) -> list[str]:
        """Return words as strings.

        Args:
            words: the words, without line breaks.
            numbers: number of the line or the position in the file of each word, for error messages.

        Raises:
            BitcipherError: if a word has bytes that are not valid and `errors` is "strict", or if it becomes equal to
                another word without them.
        """
        if not words:
            return []
        if self._errors != "strict":
            return [self._decode_damaged(word, number) for word, number in zip(words, numbers, strict=True)]
        try:
            return b"\n".join(words).decode(self._codec).split("\n")
        except UnicodeError:
            return [self._decode_valid(word, number) for word, number in zip(words, numbers, strict=True)]

    def _decode_valid(self, word: bytes, number: int) -> str:
        try:
            return word.decode(self._codec)
        except UnicodeError:
            raise BitcipherError(
                f"{self._unit} {number:,} of {self._uri} holds {word[:40]!r}, which is not text in "
                f"{self._codec.upper()}: name "
                'the encoding, as in CipherVectors.load_word2vec_format(path, encoding="cp1252"), or convert the file '
                "to UTF-8."
            ) from None

    def _decode_damaged(self, word: bytes, number: int) -> str:
        text = word.decode(self._codec, self._errors)
        if self._bytes_of.setdefault(text, word) != word:
            raise BitcipherError(
                f"{self._unit} {number:,} of {self._uri} holds {word[:40]!r}, which becomes {text!r}, as another word "
                f"does, because it is not text in {self._codec.upper()}: name the encoding of the file with `encoding`."
            )
        try:
            word.decode(self._codec)
        except UnicodeError:
            self.damaged += 1
        return text
