"""What studies declare to the product, which neither names nor imports them.

A study can have a file `study.yaml`, a `StudyDeclaration`, and a folder `recipes` with recipes for `bitcipher train`.
"""

from functools import cache
from pathlib import Path

from bitcipher.files.records import Record, Strings
from bitcipher.files.yaml_files import read_yaml

STUDIES = Path(__file__).parents[1] / "studies"


class StudyDeclaration(Record):
    """Properties of a study; stored as `study.yaml` in its folder."""

    folder_files: Strings = ()
    """Names of the files that mark a folder of runs of the study, and hold its options."""
    path_settings: Strings = ()
    """Names of the settings of its recipes that are paths."""


@cache
def study_declarations() -> tuple[StudyDeclaration, ...]:
    """Return the declarations of all studies, in the order of their names."""
    return tuple(
        StudyDeclaration.parse(read_yaml(str(path)), str(path)) for path in sorted(STUDIES.glob("*/study.yaml"))
    )


def recipe_folders() -> list[Path]:
    """Return the folders of the recipes of all studies."""
    return sorted(STUDIES.glob("*/recipes"))
