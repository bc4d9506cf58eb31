"""Readers of tasks, by their names on the command line."""

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.files.file_digests import check_stored_digests
from pipelines.clean.word_filter import read_words
from training.loop.file_names import TOKENIZER
from training.tasks.arabic_questions import ArabicQuestionTask
from training.tasks.base import Task
from training.tasks.entities import ENTITY_FILES, read_entities
from training.tasks.glue import list_glue_files, read_glue
from training.tasks.labeled_texts import list_labeled_texts, read_labeled_texts
from training.tasks.question_answering import QuestionTask, read_questions
from training.tasks.vocabulary_filter import filter_by_vocabulary

# Names of GLUE's tasks, and of their folders as published.
GLUE = {
    "cola": "CoLA",
    "sst2": "SST-2",
    "mrpc": "MRPC",
    "stsb": "STS-B",
    "qnli": "QNLI",
    "rte": "RTE",
    "wnli": "WNLI",
    "qqp": "QQP",
    "mnli": "MNLI",
    "mnli-mm": "MNLI-MM",
}
# Prefixes of the names of the published files of training and evaluation.
_QUESTIONS = {
    "squad": ("train-v1.1", "dev-v1.1"),
    "squad2": ("train-v2.0", "dev-v2.0"),
    "arcd": ("arcd-train", "arcd-test"),
}
_QUESTION_NAMES = {"squad": "SQuAD 1.1", "squad2": "SQuAD 2.0", "arcd": "ARCD"}
_EXTENSIONS = (".json", ".json.gz")

TASKS = (*GLUE, *_QUESTIONS, "entities", "classes")
# Tasks with classes of sentences or pairs of sentences.
SENTENCE_CLASSES = (*(name for name in GLUE if name != "stsb"), "classes")


def glue_folder(name: str) -> str:
    """Return the name of the published folder of a task of GLUE; both parts of MNLI are in one."""
    return GLUE[name].removesuffix("-MM")


def read_task(name: str, folder: str, vocabulary: str | None = None) -> Task:
    """Read a task.

    Args:
        name: one of `TASKS`.
        folder: path or URI of a folder with train.tsv and dev.tsv (GLUE; MNLI has dev_matched.tsv and
            dev_mismatched.tsv); train-v1.1.json and dev-v1.1.json, or train-v2.0.json and dev-v2.0.json (SQuAD), or
            arcd-train.json and arcd-test.json (ARCD), plain or gzip; eng.train and eng.testa (entities of CoNLL-2003);
            or tables train.* and dev.* with the columns text and label (classes).
        vocabulary: file of words, for GLUE only; examples with other words are dropped.

    Raises:
        BitcipherError: if a file is missing or damaged, or a vocabulary is given for a task other than GLUE's.
    """
    if vocabulary is not None and name not in GLUE:
        raise BitcipherError(f"`vocabulary` needs a sentence task ({', '.join(GLUE)}), got {name}.")
    if name in _QUESTIONS:
        train, validation = (_find_file(folder, prefix) for prefix in _QUESTIONS[name])
        task = ArabicQuestionTask if name == "arcd" else QuestionTask
        return read_questions(_QUESTION_NAMES[name], validation, train, task)
    if name == "entities":
        return read_entities(folder)
    if name == "classes":
        return read_labeled_texts(folder)
    task = read_glue(GLUE[name], folder)
    return task if vocabulary is None else filter_by_vocabulary(task, read_words(vocabulary))


def list_task_files(name: str, folder: str) -> list[str]:
    """Return the files that `read_task` reads from the folder of a task.

    Raises:
        BitcipherError: if the folder does not exist, or a file is missing.
    """
    check_folder(folder)
    if name in _QUESTIONS:
        return [_find_file(folder, prefix) for prefix in _QUESTIONS[name]]
    if name == "entities":
        return [storage.join(folder, file) for file in ENTITY_FILES]
    if name == "classes":
        return list_labeled_texts(folder)
    return list_glue_files(GLUE[name], folder)


def find_tokenizer(model: str) -> str:
    """Return the tokenizer.json of a model.

    Raises:
        BitcipherError: if the folder of the model has none, or it is that of a run and damaged.
    """
    path = storage.join(model, TOKENIZER)
    if not storage.exists(path):
        raise BitcipherError(
            f"There is no {TOKENIZER} in {model}; give a run of `bitcipher train`, or put the model's tokenizer there."
        )
    check_stored_digests(model, [TOKENIZER])
    return path


def check_folder(folder: str) -> None:
    """Check that the folder of a task exists, before libraries are loaded.

    Raises:
        BitcipherError: if it does not exist, or cannot be read.
    """
    if not storage.exists(folder):
        raise BitcipherError(f"There is no folder {folder}; give the folder of the task's files.")


def _find_file(folder: str, prefix: str) -> str:
    """Return the only JSON file whose name has the given prefix."""
    names = [name for name in storage.list_files(folder) if name.endswith(_EXTENSIONS)]
    own = sorted(name for name in names if name.startswith(prefix))
    if len(own) != 1:
        found = " and ".join(own) or "none"
        others = [
            task
            for task, prefixes in _QUESTIONS.items()
            if prefix not in prefixes and any(name.startswith(prefixes) for name in names)
        ]
        hint = f"; its files are those of --task {others[0]}" if others and not own else ""
        raise BitcipherError(f"{folder} must contain exactly one file {prefix}….json or .json.gz, found {found}{hint}.")
    return storage.join(folder, own[0])
