"""Studies of papers: their tables, figures and models."""

from typing import ClassVar

from cluster.cli.command_groups import LazyGroup, group


class StudyGroup(LazyGroup):
    """Group of all studies, in the order of the help page."""

    modules: ClassVar[dict[str, dict[str, str]]] = {
        "Studies": {
            "bit-cipher": "cluster.cli.studies.bit_cipher",
            "downscaling": "cluster.cli.studies.downscaling",
            "encoders": "cluster.cli.studies.encoders",
            "arabic": "cluster.cli.studies.arabic",
            "class-centers": "cluster.cli.studies.class_centers",
            "byte-embeddings": "cluster.cli.studies.byte_embeddings",
            "cloze-questions": "cluster.cli.studies.cloze_questions",
        }
    }


study = group(__doc__, StudyGroup)
