"""Zero-, one- and few-shot prompts from a file."""

from dataclasses import dataclass, fields
from typing import Any

import yaml

from bitcipher import storage
from bitcipher.errors import BitcipherError


@dataclass(frozen=True)
class PromptFile:
    """A task told by a template and examples.

    >>> file = PromptFile(("2 + 2", "3 + 4"), "Q: {input}\\nA: {output}\\n", examples=(("1 + 1", "2"),))
    >>> file.prompts(shots=1)[0]
    'Q: 1 + 1\\nA: 2\\nQ: 2 + 2\\nA:'
    """

    inputs: tuple[str, ...]
    """What is asked, a prompt each."""
    template: str = "{input}{output}"
    """How an example is written, with {input} and {output}; a prompt ends where its output would begin."""
    examples: tuple[tuple[str, str], ...] = ()
    """Inputs with their outputs, to be shown before."""
    instruction: str = ""
    """Text before everything."""

    def prompts(self, shots: int) -> list[str]:
        """The prompt of each input, behind the first examples.

        Args:
            shots: how many examples to show.

        Raises:
            BitcipherError: if there are fewer.
        """
        if not 0 <= shots <= len(self.examples):
            raise BitcipherError(f"{shots} examples are asked for, and the file of prompts has {len(self.examples)}.")
        before, _, after = self.template.partition("{output}")
        # Not str.format: braces of the text itself are text.
        shown = "".join(before.replace("{input}", given) + wanted + after for given, wanted in self.examples[:shots])
        # Most tokenizers join a space to the word behind it, which the model is to write.
        return [self.instruction + shown + before.replace("{input}", given).rstrip(" ") for given in self.inputs]


def read_prompts(uri: str) -> PromptFile:
    """A file of prompts: YAML with `inputs`, and if wanted `template`, `examples` and `instruction`.

    Every value is text as it is written: `yes` and `1.50` stay what they are.

    Raises:
        BitcipherError: if it is missing, is not YAML, or has another form.
    """
    with storage.reading(uri) as stream:
        try:
            values = yaml.load(stream, yaml.BaseLoader)
        except yaml.YAMLError as error:
            raise BitcipherError(f"{uri} is not YAML: {' '.join(str(error).split())}.") from None
    known = [field.name for field in fields(PromptFile)]
    if not isinstance(values, dict) or not set(values) <= set(known) or not values.get("inputs"):
        raise BitcipherError(f"{uri} must hold `inputs`, a list of texts, and may hold {', '.join(known[1:])}.")
    template = _text(values.get("template", PromptFile.template), uri)
    before, found, _ = template.partition("{output}")
    if not found or "{input}" not in before:
        raise BitcipherError(f"The template of {uri} must have {{input}}, and {{output}} behind it.")
    inputs = tuple(_text(given, uri) for given in _list("inputs", values["inputs"], uri))
    examples = tuple(_pair(example, uri) for example in _list("examples", values.get("examples", []), uri))
    return PromptFile(inputs, template, examples, _text(values.get("instruction", ""), uri))


def _list(name: str, value: Any, uri: str) -> list[Any]:
    if not isinstance(value, list):
        raise BitcipherError(f"The {name} of {uri} must be a list, each on a line of its own that begins with a dash.")
    return value


def _pair(example: Any, uri: str) -> tuple[str, str]:
    if not isinstance(example, dict) or set(example) != {"input", "output"}:
        raise BitcipherError(f"An example in {uri} must have input and output, and {example!r} has not.")
    return _text(example["input"], uri), _text(example["output"], uri)


def _text(value: Any, uri: str) -> str:
    if not isinstance(value, str):
        raise BitcipherError(f"{uri} has {value!r} where a text is wanted.")
    return value
