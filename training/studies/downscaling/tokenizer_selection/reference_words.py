"""Reference words with their morphemes."""

from pathlib import Path

import yaml

from bitcipher.errors import BitcipherError
from bitcipher.files.plain_values import check_plain
from bitcipher.files.yaml_files import BaseLoader, reading_yaml

ReferenceWords = dict[str, tuple[str, ...]]
"""Sub-tokens by word, all lowercase."""


def reference_words() -> ReferenceWords:
    """Return the 13 words that Deshpande et al. 2023 print (Table 5), with their 27 sub-tokens.

    The paper uses 127 words with 265 sub-tokens.
    """
    return read_reference_words(str(Path(__file__).with_name("reference_words.yaml")))


def read_reference_words(uri: str) -> ReferenceWords:
    """Read reference words: lines such as `cooking: cook, ing`, or YAML with lists, `cooking: [cook, ing]`.

    Words and sub-tokens are lowercased, because the paper prints "Cooking" with the part "cook".

    Raises:
        BitcipherError: if the file is missing or malformed, a word occurs twice, the sub-tokens of a word do not spell
            the word, or a word is not split, or split into single letters.
    """
    with reading_yaml(uri) as stream:
        # Nodes have line numbers. With values, YAML would read the word `no` as false.
        content = yaml.compose(stream, BaseLoader)
    if not isinstance(content, yaml.MappingNode) or not content.value:
        raise BitcipherError(
            f"{uri} must contain words with their sub-tokens, one per line, such as `cooking: cook, ing`."
        )
    words: ReferenceWords = {}
    for key, value in content.value:
        line = f"{uri}, line {key.start_mark.line + 1}"
        word, parts = _entry(key, value, line)
        if word in words:
            raise BitcipherError(f"{line}: the word {word!r} occurs twice; remove one of them.")
        words[word] = parts
    return words


def _entry(key: yaml.Node, value: yaml.Node, line: str) -> tuple[str, tuple[str, ...]]:
    if isinstance(value, yaml.ScalarNode):
        texts = value.value.split(",")
    elif isinstance(value, yaml.SequenceNode) and all(isinstance(part, yaml.ScalarNode) for part in value.value):
        texts = [part.value for part in value.value]
    else:
        texts = []
    if not isinstance(key, yaml.ScalarNode) or not texts:
        raise BitcipherError(f"{line}: expected a word and its sub-tokens, such as `cooking: cook, ing`.")
    word = key.value.strip().lower()
    parts = tuple(text.strip().lower() for text in texts)
    check_plain([word, *parts], line)
    if "".join(parts) != word or not all(parts):
        raise BitcipherError(f"{line}: the sub-tokens {', '.join(parts)} do not spell the word {word!r}; correct them.")
    if len(word.split()) != 1:
        raise BitcipherError(f"{line}: {word!r} is not one word; remove it.")
    if len(parts) == 1 or len(parts) == len(word):
        raise BitcipherError(
            f"{line}: the word {word!r} is not split, or split into single letters, which never matches; split it into "
            "its morphemes, or remove it."
        )
    return word, parts
