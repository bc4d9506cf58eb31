"""Tasks by the names that the command has for them, and the files they are read from."""

from bitcipher import storage
from bitcipher.errors import BitcipherError
from bitcipher.word_filter import read_words
from training.tasks.base import Task
from training.tasks.entities import read_entities
from training.tasks.filter import keep_known
from training.tasks.glue import read_glue
from training.tasks.question_answering import read_questions

# By the names of their folders, as published.
GLUE = {
    "cola": "CoLA",
    "sst2": "SST-2",
    "mrpc": "MRPC",
    "stsb": "STS-B",
    "qnli": "QNLI",
    "rte": "RTE",
    "wnli": "WNLI",
}
# Versions, as the published files are named: train-v1.1.json, dev-v1.1.json.
_SQUAD = {"squad": "v1.1", "squad2": "v2.0"}
_ENDINGS = (".json", ".json.gz")

TASKS = (*GLUE, *_SQUAD, "entities")


def open_task(name: str, folder: str, vocabulary: str | None = None) -> Task:
    """Read a task.

    Args:
        name: of `TASKS`.
        folder: path or URI, with train.tsv and dev.tsv of GLUE's; train-v1.1….json and dev-v1.1….json, or v2.0, of
            SQuAD's, plain or gzip; eng.train and eng.testa of entities (CoNLL-2003).
        vocabulary: file of words; examples with others are left out, of tasks of sentences.

    Raises:
        BitcipherError: if files are missing or broken, or the task cannot be filtered.
    """
    if vocabulary is not None and name not in GLUE:
        raise BitcipherError(f"Only tasks of sentences can be kept to a vocabulary ({', '.join(GLUE)}), not {name}.")
    if name in _SQUAD:
        train, validation = (_find(folder, f"{part}-{_SQUAD[name]}") for part in ("train", "dev"))
        return read_questions(f"SQuAD {_SQUAD[name].removeprefix('v')}", validation, train)
    if name == "entities":
        return read_entities(folder)
    task = read_glue(GLUE[name], folder)
    return task if vocabulary is None else keep_known(task, read_words(vocabulary))


def _find(folder: str, begin: str) -> str:
    """The one file whose name begins so."""
    names = [name for name in storage.list_files(folder) if name.startswith(begin) and name.endswith(_ENDINGS)]
    if len(names) != 1:
        found = f"there are {' and '.join(sorted(names))}" if names else "there is none"
        raise BitcipherError(f"{folder} should hold one file {begin}….json, plain or gzip, and {found}.")
    return storage.join(folder, names[0])
