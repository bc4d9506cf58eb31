"""The probing tasks of Zhao & Williams (2023), *Bit Cipher*, section 4.1, read from the folders of their corpora."""

import re

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from training.data.conll import Sentences, read_conll2003, read_conllu
from training.evaluation.probes.data import TaskData, make_task

# Fraction of the documents of CoNLL-2003's training file that form the validation split if there is no eng.testb. The
# test split is then CoNLL-2003's development file, eng.testa.
VALIDATION_SHARE = 0.1
VALIDATION_SEED = 0


def read_pos(folder: str) -> TaskData:
    """Read part-of-speech tags (xpos) from a Universal Dependencies treebank such as GUM.

    Args:
        folder: folder with three files …-train.conllu, …-dev.conllu and …-test.conllu, with or without the suffix .gz.

    Raises:
        BitcipherError: if a file is missing or is not CoNLL-U.
    """
    parts = (read_conllu(_find(folder, rf".*-{part}\.conllu(\.gz)?")) for part in ("train", "dev", "test"))
    return make_task("pos", *parts, has_spans=False)


def read_ner(folder: str) -> TaskData:
    """Read the entity tags of CoNLL-2003.

    With eng.testb, the splits are those of CoNLL-2003: eng.testa for validation, eng.testb for testing. Without it, a
    tenth of eng.train is the validation split, and eng.testa the test split.

    Args:
        folder: folder with eng.train and eng.testa, and possibly eng.testb.

    Raises:
        BitcipherError: if a file is missing or has another format, or if eng.train has only one document.
    """
    train_file = _find(folder, r"eng\.train")
    documents, development = (read_conll2003(file) for file in (train_file, _find(folder, r"eng\.testa")))
    test_file = storage.join(folder, "eng.testb")
    if storage.exists(test_file):
        parts = (documents, development, read_conll2003(test_file))
        return make_task("ner", *map(_sentences, parts), has_spans=True)
    if len(documents) < 2:
        raise BitcipherError(
            f"{train_file} has only one document, so none can be held out for validation; use the published file."
        )
    order = np.random.default_rng(VALIDATION_SEED).permutation(len(documents))
    held_out = set(order[: max(1, round(VALIDATION_SHARE * len(documents)))].tolist())
    train, validation = (
        [
            sentence
            for number, document in enumerate(documents)
            if (number in held_out) == is_validation
            for sentence in document
        ]
        for is_validation in (False, True)
    )
    return make_task("ner", train, validation, _sentences(development), has_spans=True)


TASKS = {"pos": read_pos, "ner": read_ner}


def read_task(name: str, folder: str) -> TaskData:
    """Read a task by name, pos or ner; see `read_pos` and `read_ner` for the files of the folder.

    Raises:
        BitcipherError: if the name is unknown, or files are missing or malformed.
    """
    if name not in TASKS:
        raise BitcipherError(f"There is no task {name!r}; choose {' or '.join(TASKS)}.")
    return TASKS[name](folder)


def _sentences(documents: list[Sentences]) -> Sentences:
    return [sentence for document in documents for sentence in document]


def _find(folder: str, pattern: str) -> str:
    files = [name for name in storage.list_files(folder) if re.fullmatch(pattern, name)]
    if len(files) != 1:
        names = " and ".join(files) if files else "none"
        readable = pattern.replace(".*", "…").replace(r"(\.gz)?", "").replace("\\", "")
        raise BitcipherError(f"{folder} must contain exactly one file named {readable}, found {names}.")
    return storage.join(folder, files[0])
