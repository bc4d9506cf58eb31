"""`bitcipher study downscaling choose-tokenizer`: output, resume and errors."""

import hashlib
import json
from functools import partial
from pathlib import Path

import pytest
import user_folder

from bitcipher.errors import BitcipherError
from pipelines.ingest.read_options import ReadOptions
from pipelines.tokenizers.tokenizer_json import load_tokenizer
from training.data.tokenizer_files import save_tokenizer
from training.data.train_tokenizer import train_tokenizer
from training.studies.downscaling.tokenizer_selection import choose_tokenizer as choosing

ONE = ("corpus", "--kind", "bpe", "--size", 280, "--out", "tokenizers")
SEVERAL = (
    *("corpus", "--kind", "bpe", "--kind", "wordpiece", "--size", 300, "--size", 280, "--examples", 50),
    *("--reference", "bpe=bpe.json", "--reference", "wordpiece=wordpiece.json"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    user_folder.write_corpus(folder / "corpus" / "part-0.json.gz")
    words = ["king queen woman house a said saw london"] * 20
    save_tokenizer(train_tokenizer(words, "bpe", 290), str(folder / "bpe.json"))
    save_tokenizer(train_tokenizer(words, "wordpiece", 60), str(folder / "wordpiece.json"))
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    for path in made.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, run_command):
    return partial(run_command, "study", "downscaling", "choose-tokenizer")


def content_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_command_prints_table_and_writes_files(run, folder):
    code, out, err = run(*SEVERAL, "--out", "tokenizers")
    assert (code, err) == (0, "")
    assert [
        line.split("|")[1].strip(" *") for line in out.splitlines() if line.startswith("| ") and "---" not in line
    ] == [*("Tokenizer", "bpe", "bpe", "bpe", "wordpiece", "wordpiece", "wordpiece")]
    assert "Word-split ratio: measured on 50 examples with " in out
    assert "13 words with 27 sub-tokens" in out

    content = content_of(folder / "tokenizers")
    candidates = {f"candidates/{kind}-{size}.json" for kind in ("bpe", "wordpiece") for size in (280, 300)}
    assert set(content) == candidates | {"candidates/inputs.json", "choice.json", "table.md", "tokenizer.json"}
    assert out.startswith(content["table.md"].decode())
    output = json.loads(content["choice.json"])
    chosen = output["chosen"]
    assert content["tokenizer.json"] == content[f"candidates/{chosen['kind']}-{chosen['size']}.json"]
    assert output["tokenizer_sha256"] == hashlib.sha256(content["tokenizer.json"]).hexdigest()
    assert f"| **{chosen['kind']}** | **{chosen['size']}" in out
    assert [(row["kind"], row["size"]) for row in output["rows"]] == [
        *(("bpe", 280), ("bpe", 300), ("bpe", None), ("wordpiece", 280), ("wordpiece", 300), ("wordpiece", None))
    ]
    assert set(output["references"]) == set(output["nearest"]) == {"bpe", "wordpiece"}
    assert load_tokenizer(str(folder / "tokenizers" / "tokenizer.json")).encode("king queen").ids


def test_output_is_deterministic(run, folder):
    run(*SEVERAL, "--out", "first")
    run(*SEVERAL, "--out", "second")
    assert content_of(folder / "first") == content_of(folder / "second")


def test_existing_candidates_are_not_trained_again(run, folder, monkeypatch):
    first = run(*SEVERAL, "--out", "tokenizers")
    whole = content_of(folder / "tokenizers")
    (folder / "tokenizers" / "candidates" / "bpe-300.json").unlink()  # as after an interruption
    (folder / "tokenizers" / "choice.json").unlink()
    trained = []

    def record(texts, kind, size, **options):
        trained.append((kind, size))
        return train_tokenizer(texts, kind, size, **options)

    monkeypatch.setattr(choosing, "train_tokenizer", record)
    assert run(*SEVERAL, "--out", "tokenizers") == first
    assert trained == [("bpe", 300)]
    assert content_of(folder / "tokenizers") == whole


def test_candidates_are_added_to_existing_folder(run, folder):
    assert run(*ONE)[0] == 0
    code, out, _ = run(
        "corpus", "--kind", "unigram", "--size", 50, "--out", "tokenizers", "--words", words_file(folder)
    )
    assert code == 0
    assert "| **unigram** | **50** |" in out
    assert "2 words with 4 sub-tokens" in out
    assert json.loads((folder / "tokenizers" / "choice.json").read_text())["reference_words"] == {
        "oslolondon": ["oslo", "london"],
        "kings": ["king", "s"],
    }
    assert {path.name for path in (folder / "tokenizers" / "candidates").iterdir()} == {
        *("bpe-280.json", "inputs.json", "unigram-50.json")
    }


def words_file(folder):
    (folder / "words.txt").write_text("oslolondon: oslo, london\nKings: king, s\n")
    return "words.txt"


def test_reading_options_and_lowercase_are_used(run, folder):
    (folder / "other.jsonl").write_text('{"body": "KING king KING"}\n')
    arguments = ("other.jsonl", "--kind", "bpe", "--size", 280, "--field", "body", "--lowercase", "--document", "file")
    code, out, err = run(*arguments, "--format", "jsonl", "--out", "tokenizers")
    assert (code, err) == (0, "")
    assert "1 examples with 3 words" in out
    tokenizer = load_tokenizer(str(folder / "tokenizers" / "tokenizer.json"))
    assert tokenizer.encode(" KING").tokens == tokenizer.encode(" king").tokens == ["Ġking"]
    output = json.loads((folder / "tokenizers" / "choice.json").read_text())["inputs"]
    assert output["reading"] == ReadOptions(format="jsonl", document="file", field="body").to_dict()
    assert output["lowercase"] is True


@pytest.mark.parametrize("other", [["--lowercase"], ["--document", "file"], ["more.txt"]], ids=str)
def test_other_inputs_in_same_folder_raise(run, folder, other):
    (folder / "more.txt").write_text("more")
    run(*ONE)
    before = content_of(folder / "tokenizers")
    code, out, err = run(*ONE, *other)
    assert (code, out) == (2, "")
    assert "tokenizers has tokenizers of other sources" in err
    assert content_of(folder / "tokenizers") == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none", *ONE[1:]], "Cannot use none"),
        (["empty.txt", *ONE[1:]], "sources are empty"),
        (["blank.txt", *ONE[1:]], "There is no text to measure tokenizers on"),
        (["corpus", "--kind", "word", "--out", "tokenizers"], "`kind` must be bpe, wordpiece or unigram"),
        (["corpus", "--kind", "bpe", "--out", "tokenizers"], "give --reference bpe=tokenizer.json, or a single"),
        (
            ["corpus", "--size", 280, "--size", 300, "--out", "tokenizers"],
            "Choosing among 2 sizes of bpe tokenizers needs a ref",
        ),
        ([*ONE, "--reference", "bpe=none.json"], "none.json"),
        ([*ONE, "--reference", "bpe=wordpiece.json"], "must be a tokenizer of model BPE, but wordpiece.json is of"),
        ([*ONE, "--reference", "unigram=t5.json"], "There is a reference of kind 'unigram'"),
        ([*ONE, "--reference", "bpe.json"], "A reference must be KIND=PATH"),
        ([*ONE, "--words", "none.txt"], "none.txt"),
        ([*ONE, "--words", "blank.txt"], "must contain words with their sub-tokens"),
        ([*ONE, "--document", "page"], "must be line or file"),
        (["corpus", "--kind", "bpe", "--size", 20, "--out", "tokenizers"], "must be at least"),
        (["corpus", "--kind", "wordpiece", "--size", 20, "--out", "tokenizers"], "must be at least"),
        (["corpus", "--kind", "unigram", "--size", 8, "--out", "tokenizers"], "unigram tokenizer"),
    ],
)
def test_invalid_arguments_raise_and_leave_no_folder(run, folder, arguments, sentence):
    (folder / "empty.txt").touch()
    (folder / "blank.txt").write_text(" \n \n")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.startswith("bitcipher: ")
    assert err.count("\n") == 1
    assert not (folder / "tokenizers").exists()


def test_folder_of_other_files_raises_and_is_unchanged(run, folder):
    (folder / "tokenizers").mkdir()
    (folder / "tokenizers" / "mine").touch()
    code, _, err = run(*ONE)
    assert code == 2
    assert "is not empty, and does not hold a choice of tokenizers" in err
    assert list(content_of(folder / "tokenizers")) == ["mine"]


def test_failed_write_leaves_no_choice_file(run, folder, monkeypatch):
    run(*ONE)

    def full(*_):
        raise BitcipherError("The disk is full.")

    monkeypatch.setattr(choosing.json_files, "write", full)
    code, _, _ = run("corpus", "--kind", "bpe", "--size", 300, "--out", "tokenizers")
    assert code == 2
    assert not (folder / "tokenizers" / "choice.json").exists()
