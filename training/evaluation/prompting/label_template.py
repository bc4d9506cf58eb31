"""Templates of prompts for a label: the text of an example, and the words for each label."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

import yaml
from pydantic import Field, model_validator

from bitcipher.errors import BitcipherError
from bitcipher.files.records import FROM_LIST, Record
from bitcipher.files.yaml_files import BaseLoader, find_yaml, reading_yaml

LABEL, REASONING = "label", "reasoning"
_PLACEHOLDER = re.compile(r"\{([^{}\n]+)\}")

Examples = Annotated[tuple[dict[str, str], ...], FROM_LIST]


class LabelTemplate(Record):
    """Template of the prompts of a classification task.

    >>> values = {"template": "Review: {sentence}\\nIt is {label}.\\n", "labels": {"0": "bad", "1": "good"}}
    >>> template = LabelTemplate.parse(values, "review.yaml")
    >>> template.demonstration({"sentence": "Fine.", "label": "1"})
    'Review: Fine.\\nIt is good.\\n'
    >>> template.beginning({"sentence": "Dull."})
    'Review: Dull.\\nIt is '
    """

    template: str
    """Text of an example: columns of the data in braces, and {label} after them. With {reasoning} before {label}, the
    model generates this part itself (chain of thought), and the demonstrations are `examples`."""
    labels: dict[str, str]
    """Words for each label of the data."""
    label_column: str = Field("label", min_length=1)
    """Column of the data that holds the label."""
    instruction: str = ""
    """Text at the start of every prompt."""
    examples: Examples = ()
    """Examples with all columns of the template, the label and, if the template has it, `reasoning`. If there are any,
    demonstrations are drawn from them, and not from training data."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.labels) < 2:
            raise ValueError("`labels` must have words for two or more labels.")
        names = _PLACEHOLDER.findall(self.template)
        expected = [*self.columns, *([REASONING] if self.has_reasoning else []), LABEL]
        if not self.columns or list(dict.fromkeys(names)) != expected or names.count(LABEL) > 1:
            raise ValueError(
                "`template` must have columns in braces, such as {sentence}, then {reasoning} or not, and then {label} "
                f"once, got {self.template!r:.200}."
            )
        if self.has_reasoning and not self.examples:
            raise ValueError("`examples` are missing; a template with {reasoning} needs some with their `reasoning`.")
        needed = {*self.columns, self.label_column, *([REASONING] if self.has_reasoning else [])}
        for number, example in enumerate(self.examples, 1):
            if missing := sorted(needed - example.keys()):
                raise ValueError(f"Example {number} of `examples` lacks {', '.join(missing)}; add it.")
            if example[self.label_column] not in self.labels:
                raise ValueError(
                    f"Example {number} of `examples` has the label {example[self.label_column]!r}, which is not in "
                    f"`labels`: {', '.join(self.labels)}."
                )
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the data in the template, in the order of their first occurrence."""
        names = dict.fromkeys(_PLACEHOLDER.findall(self.template))
        return tuple(name for name in names if name not in (LABEL, REASONING))

    @property
    def has_reasoning(self) -> bool:
        """Whether the model generates a chain of thought before the label."""
        return f"{{{REASONING}}}" in self.template

    def demonstration(self, row: Mapping[str, str]) -> str:
        """Return the text of an example with its label.

        Args:
            row: values of the columns, of the label and, with `has_reasoning`, of `reasoning`.
        """
        return _fill(self.template, {**row, LABEL: self.labels[row[self.label_column]]})

    def beginning(self, row: Mapping[str, str]) -> str:
        """Return the text of an example up to its reasoning if it has one, else up to its label."""
        return _fill(self.template.partition(f"{{{REASONING if self.has_reasoning else LABEL}}}")[0], row)

    @property
    def before_label(self) -> str:
        """Text between the reasoning and the label; empty without reasoning."""
        _, _, after = self.template.partition(f"{{{REASONING}}}")
        return after.partition(f"{{{LABEL}}}")[0]


def find_template(name: str) -> str:
    """Return the path of a shipped template, or `name` itself if it is a path or URI.

    Raises:
        BitcipherError: if no shipped template has this name.
    """
    return find_yaml(name, [Path(__file__).parent / "templates"], "prompt template")


def read_template(uri: str) -> LabelTemplate:
    """Read a template from a YAML file. Scalars are read as strings: the label 1 is "1".

    Raises:
        BitcipherError: if the file is missing, is not YAML, or is no valid template.
    """
    with reading_yaml(uri) as stream:
        values = yaml.load(stream, BaseLoader)
    if not isinstance(values, dict):
        raise BitcipherError(f"{uri} must contain `template` and `labels`.")
    return LabelTemplate.parse(values, uri)


def _fill(text: str, values: Mapping[str, str]) -> str:
    # `str.format` would fail on names such as {#1 String}, and a replaced value can contain braces.
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)
