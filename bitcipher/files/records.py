"""Validated records: options given by users, and JSON files read back from storage.

Each option of bitcipher is one field of a `Record`: its type, default, bounds and help text stand together, and the
command line, YAML recipes, the Python interface and stage arguments are derived from it. Each kind of JSON file that
is read back from storage is a `Record` too, so a damaged file gives an error message instead of a traceback.

This module imports pydantic, so `import bitcipher` must not import it.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files
from bitcipher.files.plain_values import check_plain
from bitcipher.redaction import redact_values


def _parse_number(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


# YAML 1.1 reads 1e-3 as a string, because it has no decimal point.
Float = Annotated[float, BeforeValidator(_parse_number)]

# JSON and YAML have lists but no tuples. Records hold tuples, which are immutable.
FROM_LIST = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
Strings = Annotated[tuple[str, ...], FROM_LIST]

Count = Annotated[int, Field(ge=0)]


def _check_time(value: str) -> str:
    try:
        has_zone = datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        has_zone = False
    if not has_zone:
        raise ValueError(f"{value!r} is not an ISO 8601 time with a time zone.")
    return value


Time = Annotated[str, AfterValidator(_check_time)]


@dataclass(frozen=True)
class Metavar:
    """Annotation of a field: the placeholder of its value in command help, such as PATH."""

    text: str


_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("greater than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
    "multiple_of": ("a multiple of", "multiple_of"),
}
_TYPES = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "int_parsing": "an integer",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a string",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list, such as [corpus]",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dataclass_type": "a mapping",
}
_TOO_LONG = {"too_long": "elements", "string_too_long": "characters"}


class _RecordType(type(BaseModel)):
    """Metaclass that turns the validation errors of a constructor call into a `BitcipherError`."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except ValidationError as error:
            record: Any = cls
            raise BitcipherError(describe_error(error, record)) from None


class Record(BaseModel, metaclass=_RecordType):
    """Immutable values, validated when they are created.

    The docstring below a field is its help text (see `describe_fields`). Types are strict: the string "5" is not an
    integer.

    Raises:
        BitcipherError: if a value is missing, unknown, of the wrong type or out of bounds. The message names the field.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def parse(
        cls, values: dict[str, Any], source: str | None = None, name: Callable[[Sequence[str | int]], str] | None = None
    ) -> Self:
        """Return a record from plain values, such as those of YAML, JSON or the command line.

        Args:
            values: values by field name. Missing fields get their defaults.
            source: where the values come from, such as a file name. Error messages begin with it if given.
            name: function that returns the name of a field in error messages. Its argument is the path of the field in
                nested records and lists. By default, the parts of the path are joined by dots.

        Raises:
            BitcipherError: if a value is missing, unknown, of the wrong type or out of bounds.
        """
        if source:  # values of the command line are plain
            check_plain(values, source)
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            sentence = describe_error(error, cls, name)
            raise BitcipherError(f"{source}: {sentence}" if source else sentence) from None

    @classmethod
    def read(cls, uri: str) -> Self:
        """Return the record in a JSON file.

        Raises:
            BitcipherError: if the file is missing, damaged, or does not hold a record of this class.
        """
        return cls.parse(json_files.read(uri), uri)

    def copy_with(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, validated like a new record.

        Raises:
            BitcipherError: if a changed field is invalid.
        """
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**(fields | changes))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON and YAML can hold; `parse` reads them."""
        return self.model_dump(mode="json")

    def redacted(self) -> Self:
        """Return a copy for files, with URIs without credentials. No field may hold words or text."""
        return type(self).parse(redact_values(self.to_dict()))


def describe_fields(record: type[Record]) -> dict[str, str]:
    """Return the help text of each field of a record that has one, by name.

    The help text is the description of the field, or the docstring below it. Docstrings are read from the source files
    of the record and of its base classes. pydantic could read them when a record is defined, but this takes 50 ms for
    the records of a manifest, and only help pages need them.
    """
    texts: dict[str, str] = {}
    for each in reversed(record.__mro__):
        if issubclass(each, Record):
            texts |= _docstrings_by_class(each.__module__).get(each.__qualname__, {})
    return texts | {name: field.description for name, field in record.model_fields.items() if field.description}


@cache
def _docstrings_by_class(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings below the annotated names of each top-level class of a module."""
    classes = (
        node for node in ast.parse(inspect.getsource(sys.modules[module])).body if isinstance(node, ast.ClassDef)
    )
    return {node.name: dict(_docstrings_below(node.body)) for node in classes}


def _docstrings_below(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for statement, following in pairwise(statements):
        match statement, following:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(docstring))),
            ):
                yield name, inspect.cleandoc(docstring)


def describe_error(
    error: ValidationError, record: type[BaseModel], name: Callable[[Sequence[str | int]], str] | None = None
) -> str:
    """Return the first mistake of a validation error as one sentence that names the field."""
    first: Any = error.errors(include_url=False)[0]
    return describe_mistake(first, record, name)


def describe_mistake(
    first: ErrorDetails, record: type[BaseModel], name: Callable[[Sequence[str | int]], str] | None = None
) -> str:
    """Return a mistake in a record as one sentence that names the field."""
    context = first.get("ctx", {})
    field = name(first["loc"]) if name else ".".join(map(str, first["loc"]))
    kind = first["type"]
    if kind == "value_error":  # raised by a validator, whose message is a whole sentence
        return str(context["error"])
    if kind == "missing":
        return f"`{field}` is missing."
    if kind == "extra_forbidden":
        *groups, _ = first["loc"]
        known = ", ".join(sorted(_fields_at(record, groups)))
        return f"there is no option `{field}`; choose from {known}." if known else f"`{field}` is unknown."
    if kind == "invalid_key":
        return f"names of options must be strings, got {first['input']!r}."
    if kind in _TOO_LONG:  # the input is too long to show
        return f"`{field}` must have at most {context['max_length']:,} {_TOO_LONG[kind]}, got {len(first['input']):,}."
    return f"`{field}` must be {_expected(first, record)}, got {first['input']!r}."


def _expected(error: ErrorDetails, record: type[BaseModel]) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind in _BOUNDS:
        *groups, name = error["loc"]
        field = _fields_at(record, groups).get(str(name))
        metadata = field.metadata if field else []
        least, most = (next((getattr(m, key) for m in metadata if hasattr(m, key)), None) for key in ("ge", "le"))
        if least is not None and most is not None:
            return f"between {least} and {most}"
        words, key = _BOUNDS[kind]
        return f"{words} {context[key]}"
    if kind == "literal_error":
        return context["expected"].replace("'", "")
    if kind == "too_short":
        return f"a list with a length of at least {context['min_length']}"
    message = error["msg"].removeprefix("Input should be ")
    message = message.replace("String should have", "a string with").replace("String should match", "a string of")
    return _TYPES.get(kind) or message


def _fields_at(record: Any, path: Sequence[str | int]) -> dict[str, FieldInfo]:
    """Return the fields, by name, of the record at the path `path` of nested records."""
    for name in path:
        fields = getattr(record, "model_fields", {})
        if name not in fields:
            return {}
        annotation = fields[name].annotation
        options = (annotation, *getattr(annotation, "__args__", ()))
        record = next((each for each in options if hasattr(each, "model_fields")), None)
    return dict(getattr(record, "model_fields", {}))
