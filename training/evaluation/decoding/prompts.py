"""Prompt files for zero-, one- and few-shot generation."""

from typing import Annotated, Self

import yaml
from pydantic import BeforeValidator, Field, model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record
from bitcipher.files.yaml_files import BaseLoader, reading_yaml


class PromptExample(Record):
    """Input of a task with its expected output."""

    input: str
    output: str


Texts = Annotated[tuple[str, ...], BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)]
PromptExamples = Annotated[
    tuple[PromptExample, ...], BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
]


class PromptFile(Record):
    """Task for a language model, described by a template, examples and inputs.

    >>> examples = [PromptExample(input="1 + 1", output="2")]
    >>> file = PromptFile(inputs=["2 + 2", "3 + 4"], template="Q: {input}\\nA: {output}\\n", examples=examples)
    >>> file.prompts(shots=1)[0]
    'Q: 1 + 1\\nA: 2\\nQ: 2 + 2\\nA:'
    """

    inputs: Texts = Field(min_length=1)
    """Inputs, one per prompt."""
    template: str = "{input}{output}"
    """Text of an example, with the placeholders {input} and {output}. A prompt ends where {output} would begin."""
    examples: PromptExamples = ()
    """Examples to put before the input."""
    instruction: str = ""
    """Text at the start of every prompt."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        before, placeholder, _ = self.template.partition("{output}")
        if not placeholder or "{input}" not in before:
            raise ValueError(f"`template` must contain {{input}} followed by {{output}}, got {self.template!r}.")
        return self

    def prompts(self, shots: int) -> list[str]:
        """Return the prompt of each input, after the first `shots` examples.

        Raises:
            BitcipherError: if there are fewer than `shots` examples.
        """
        if not 0 <= shots <= len(self.examples):
            raise BitcipherError(
                f"`shots` must be between 0 and {len(self.examples)}, the number of examples, got {shots}."
            )
        before, _, after = self.template.partition("{output}")
        # `str.format` would fail on other braces in the template.
        examples = "".join(
            before.replace("{input}", example.input) + example.output + after for example in self.examples[:shots]
        )
        # Most tokenizers join a space to the following word, which the model generates.
        return [self.instruction + examples + before.replace("{input}", text).rstrip(" ") for text in self.inputs]


def read_prompts(uri: str) -> PromptFile:
    """Read a YAML prompt file with `inputs`, and optionally `template`, `examples` and `instruction`.

    Scalars are read as strings: `yes` and `1.50` stay as they are written.

    Raises:
        BitcipherError: if the file is missing, is not YAML, or is invalid.
    """
    with reading_yaml(uri) as stream:
        values = yaml.load(stream, BaseLoader)
    if not isinstance(values, dict):
        raise BitcipherError(f"{uri} must contain `inputs`, a list of texts.")
    return PromptFile.parse(values, uri)
