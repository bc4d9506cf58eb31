"""Paths in settings, references and recipes of jobs are translated, or refused with a sentence."""

from typing import get_args, get_origin

import pytest
import yaml

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Record
from cluster.cli.main import all_commands
from cluster.jobs.job_paths import translate_paths
from cluster.jobs.setting_paths import check_recipe, path_options, translate_setting

COMMANDS = all_commands()
# Options that are text, but no paths.
NO_PATHS = {
    *("task", "text.field", "language.field", "shapes.names", "shapes.largest", "downstream.tasks"),
    *("text.list_protocols", "language.list_protocols"),
}


def text_options(record: type[Record], prefix: str = "") -> set[str]:
    """Return the names of the options of a record that any text is valid for."""
    names = set()
    for name, field in record.model_fields.items():
        kind, inner = field.annotation, get_args(field.annotation)
        if isinstance(kind, type) and issubclass(kind, Record):
            names |= text_options(kind, f"{prefix}{name}.")
        elif get_origin(kind) is dict:
            references = ("bpe", "wordpiece", "unigram") if inner == (str, str) else ()
            names |= {f"{prefix}{name}.{each}" for each in references}
        elif str in (kind, *inner):
            names.add(prefix + name)
    return names


def test_all_options_that_are_paths_are_known():
    from training.runs.recipe import Recipe
    from training.studies.downscaling.filter.options import FilterOptions
    from training.studies.downscaling.sweep.options import Study
    from training.studies.downscaling.tokenizer_selection.choose_tokenizer import ChoiceOptions
    from training.tasks.finetuning.options import FinetuneOptions

    options = text_options(Recipe) | text_options(FinetuneOptions) | text_options(Study)
    options |= text_options(FilterOptions, "language.")
    options |= text_options(ChoiceOptions, "choice.") | {"embeddings.build.word_list", "word_list", "tokenizer"}
    assert options - NO_PATHS == path_options()


@pytest.mark.parametrize(
    ("setting", "translated"),
    [
        ("text.sources=[a, 's3://b/c', /d]", 'text.sources=["@a", "s3://b/c", "/d"]'),
        ("text={sources: [a], format: plain}", 'text={"sources": ["@a"], "format": "plain"}'),
        ("model.checkpoint=runs/a", 'model.checkpoint="@runs/a"'),
        ("tokenizer=t.json", 'tokenizer="@t.json"'),
        *((same, same) for same in ("tokenizer=spacy", "loop.max_steps=3", "text.sources=[/a]", "nonsense", "a=[")),
    ],
)
def test_settings_are_translated(setting, translated):
    assert (
        translate_setting(setting, lambda path: path if path[0] == "/" or "://" in path else f"@{path}") == translated
    )


def test_settings_and_references_of_commands_are_translated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = ["figure-4-random", "--out", "s3://b/run", "--set", "text.sources=[a]", "--set=model.checkpoint=b"]
    assert translate_paths(COMMANDS["train"], line, None, is_local=True)[3:] == [
        *("--set", f'text.sources=["{tmp_path}/a"]', f'--set=model.checkpoint="{tmp_path}/b"'),
    ]
    with pytest.raises(BitcipherError, match="a is a path on this machine, but the cluster runs elsewhere"):
        translate_paths(COMMANDS["train"], line, None, is_local=False)
    line = ["s3://b/*.txt", "--out", "s3://b/t", "--kind", "bpe", "--reference", "bpe=r.json"]
    sent = translate_paths(COMMANDS["study downscaling choose-tokenizer"], line, None, is_local=True)
    assert sent[-1] == f"bpe={tmp_path}/r.json"


def test_relative_paths_in_recipes_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"text": {"sources": ["corpus"], "tokenizer": {"path": "/t"}}}))
    line = ["mine.yaml", "--out", "s3://b/run"]
    with pytest.raises(BitcipherError, match=r"^mine\.yaml sets `text.sources` to corpus, but a job starts in another"):
        translate_paths(COMMANDS["train"], line, None, is_local=True)
    translate_paths(COMMANDS["train"], [*line, "--set", "text.sources=[s3://b/c]"], None, is_local=True)
    (tmp_path / "corpus").mkdir()
    assert translate_paths(COMMANDS["train"], line, str(tmp_path), is_local=False) == line
    check_recipe("missing.yaml", None, [])
