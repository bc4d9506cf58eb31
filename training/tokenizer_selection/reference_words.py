"""Reference words with their morphemes."""

from pathlib import Path

import yaml

from bitcipher import storage
from bitcipher.errors import BitcipherError

ReferenceWords = dict[str, tuple[str, ...]]
"""Sub-tokens by word, all lowercase."""


def reference_words() -> ReferenceWords:
    """Return the 13 words with 27 sub-tokens that the paper prints (Table 5), of its 127 words with 265 sub-tokens."""
    return read_reference_words(str(Path(__file__).with_name("reference_words.yaml")))


def read_reference_words(uri: str) -> ReferenceWords:
    """Read reference words: lines such as `cooking: cook, ing`, or YAML with lists, `cooking: [cook, ing]`.

    Words and sub-tokens are lowercased, because the paper prints "Cooking", and "cook" as its first part.

    Raises:
        BitcipherError: if the file is missing or malformed, a word occurs twice, or its sub-tokens do not spell it or
            can never score.
    """
    with storage.reading(uri) as stream:
        try:
            # Nodes instead of values: they have line numbers, and `no` is a word.
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
