"""Words with the morphemes that a tokenizer should cut them into."""

from pathlib import Path

import yaml

from bitcipher import storage
from bitcipher.errors import BitcipherError

ReferenceWords = dict[str, tuple[str, ...]]
"""By word its sub-tokens, all in lower case."""


def reference_words() -> ReferenceWords:
    """The 13 words that the paper prints of its 127, with 27 of their 265 sub-tokens (Table 5)."""
    return read_reference_words(str(Path(__file__).with_name("reference_words.yaml")))


def read_reference_words(uri: str) -> ReferenceWords:
    """One's own words: a line each such as `cooking: cook, ing`, or YAML with lists, `cooking: [cook, ing]`.

    Words and sub-tokens are put into lower case: the paper prints "Cooking", and "cook" for its first part.

    Raises:
        BitcipherError: if the file is missing or has another form, a word comes twice, or sub-tokens do not spell it
            or could never score.
    """
    with storage.reading(uri) as stream:
        try:
            # Nodes and not values: they know their lines, and `no` is a word.
            content = yaml.compose(stream, yaml.BaseLoader)
        except (yaml.YAMLError, RecursionError) as error:
            raise BitcipherError(f"{uri} is no list of words in YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(content, yaml.MappingNode) or not content.value:
        raise BitcipherError(f"{uri} must hold words with their sub-tokens, a line each such as `cooking: cook, ing`.")
    words: ReferenceWords = {}
    for key, value in content.value:
        place = f"{uri}, line {key.start_mark.line + 1}"
        word, parts = _entry(key, value, place)
        if word in words:
            raise BitcipherError(f"{place}: the word {word!r} is there twice; keep one of them.")
        words[word] = parts
    return words


def _entry(key: yaml.Node, value: yaml.Node, place: str) -> tuple[str, tuple[str, ...]]:
    if isinstance(value, yaml.ScalarNode):
        texts = value.value.split(",")
    elif isinstance(value, yaml.SequenceNode) and all(isinstance(part, yaml.ScalarNode) for part in value.value):
        texts = [part.value for part in value.value]
    else:
        texts = []
    if not isinstance(key, yaml.ScalarNode) or not texts:
        raise BitcipherError(f"{place}: a word and its sub-tokens are wanted, such as `cooking: cook, ing`.")
    word = key.value.strip().lower()
    parts = tuple(text.strip().lower() for text in texts)
    if "".join(parts) != word or not all(parts):
        raise BitcipherError(f"{place}: the sub-tokens {', '.join(parts)} do not spell the word {word!r}; mend them.")
    if len(word.split()) != 1:
        raise BitcipherError(f"{place}: {word!r} is not one word; leave it out.")
    if len(parts) == 1 or len(parts) == len(word):
        raise BitcipherError(
            f"{place}: the word {word!r} is whole or in single letters, which never scores; cut it into its morphemes, "
            "or leave it out."
        )
    return word, parts
