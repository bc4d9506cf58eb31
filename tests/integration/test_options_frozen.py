"""Options of all commands and recipes as a fixed set, so that adding an option is a deliberate change."""

from pathlib import Path

import pytest

import pipelines
from bitcipher.files.yaml_files import read_yaml
from cluster.cli.main import AllCommands, all_commands
from pipelines.options import BuildOptions, EmbeddingOptions

EMBEDDING = {
    *("bits", "window", "mode", "vector_size", "context", "landmarks", "landmark_contexts", "spelling_share"),
    *("noise", "noise_over", "log"),
}
READING = {"format", "document", "field", "encoding", "max_record_mib", "max_bad_share", "list_protocols"}
BUILD = (
    EMBEDDING
    | READING
    | {
        *("tokenizer", "lowercase", "normalization", "min_count", "max_vocab_size", "word_list", "summed"),
        *("shard_mib", "memory_mib"),
    }
)


VERBOSITY = {"verbose", "quiet"}


def options_of(command: str) -> set[str]:
    return {parameter.name for parameter in all_commands()[command].params}


# Commands of the help page by panel. Each panel has at most eight, and there are at most 38 in all.
PANELS = {
    "Text": ["shard", "sample"],
    "Vectors": ["build", "update", "embed", "export", "evaluate"],
    "Use": ["neighbors", "explain", "infer", "explore", "serve", "demo"],
    "Models": ["train", "finetune", "tune", "generate", "evaluate-lm", "compare"],
    "Studies": ["study", "sweep"],
    "Operations": ["status", "inspect", "verify", "prune", "plan", "submit", "doctor"],
}


def test_commands_of_each_panel():
    assert {title: list(panel) for title, panel in AllCommands.modules.items()} == PANELS
    assert all(len(panel) <= 8 for panel in PANELS.values())
    assert sum(map(len, PANELS.values())) <= 38


def test_sweep_is_the_command_of_its_study():
    assert all_commands()["sweep"] is all_commands()["study downscaling sweep"]


def test_options_of_each_command():
    assert options_of("build") == BUILD | VERBOSITY | {"sources", "out", "recipe", "workers", "vectors", "rehash"}
    growing = {"build", "sources", "replace", "max_drift", "align", "basis", "tokenizer", "word_list", "vectors"}
    assert options_of("update") == growing | VERBOSITY | {"workers", "memory_mib", "rehash", "list_protocols"}
    assert options_of("status") == {"build", "as_json"}
    assert options_of("prune") == {"build", "keep", "unfinished"}
    assert options_of("embed") == EMBEDDING | VERBOSITY | {"build", "out", "version", "basis", "workers", "memory_mib"}
    analogies = {"plus", "minus", "case_insensitive"}
    assert options_of("neighbors") == analogies | {"vectors", "words", "topn", "version", "oov", "as_json"}
    assert options_of("explain") == {"vectors", "word", "other", "topn", "by", "counts", "version"}
    assert options_of("infer") == {"vectors", "word", "contexts", "topn", "counts", "version", "tokenizer"}
    assert options_of("explore") == VERBOSITY | {"vectors", "out", "compare", "words", "version"}
    assert options_of("export") == VERBOSITY | {"vectors", "format", "out", "version"}
    cutting = {"level", "spans_only", "sentences_only", "span", "stride", "held_out_share", "unconstrained"}
    assert options_of("study downscaling filter") == cutting | READING | VERBOSITY | {
        "sources",
        "out",
        "vocabulary",
        "top",
        "seed",
        "workers",
    }
    candidates = {"kind", "size", "reference", "lowercase", "words", "examples"}
    assert options_of("study downscaling choose-tokenizer") == candidates | READING | VERBOSITY | {"sources", "out"}
    asking = {
        "questions_per_context",
        "context_words",
        "restatements",
        "unanswerable_fraction",
        "validation_fraction",
        "language",
        "seed",
    }
    assert options_of("study cloze-questions make") == asking | READING | VERBOSITY | {"sources", "out"}
    details = {"url_field", "date_field", "language_field"}
    assert options_of("sample") == READING | details | {"sources", "number", "recipe", "characters"}
    sharding = {"sources", "out", "recipe", "replace", "workers", "shard_mib", "keep_dropped", "memory_mib", "rehash"}
    assert options_of("shard") == READING | details | VERBOSITY | sharding
    assert options_of("evaluate") == {"vectors", "similarity", "analogies", "pos", "ner", "seeds", "oov", "as_json"}
    running = VERBOSITY | {"sources", "out", "seeds", "settings", "workers"}
    comparing = running | {"data", "questions", "finetuning_settings"}
    cipher = {"noise", "noise_over", "log"}
    tables = VERBOSITY | cipher | {"builds", "out", "pos", "ner", "seeds", "vectors"}
    assert options_of("study bit-cipher tables") == tables
    assert options_of("study bit-cipher figure-4") == running
    assert options_of("study bit-cipher figure-5") == running | {"pretraining", "pretraining_settings"}
    assert options_of("study downscaling laws") == {"evaluations", "out"}
    assert options_of("study encoders embedding-sharing") == comparing | {"task"}
    assert options_of("study encoders compare") == comparing | {"task"}
    assert options_of("study arabic arcd") == comparing | {"other"}
    bytes_table = {"run", "text", "out", "size", "loss", "eval_sequences", "settings"}
    assert options_of("study byte-embeddings table") == VERBOSITY | bytes_table
    assert options_of("train") == VERBOSITY | {"recipe", "out", "settings", "prepared", "workers"}
    finetuning = {"model", "task", "data", "out", "settings", "vocabulary", "random_init", "seed", "workers"}
    finetuning |= {"grid", "max_concurrent_trials", "gpus"}
    assert options_of("finetune") == VERBOSITY | finetuning
    assert options_of("compare") == {"runs", "out", "as_json"}
    comparing_centers = {"model", "data", "out", "task", "weights", "shape", "rows", "epochs", "samples", "seeds"}
    comparing_centers |= VERBOSITY | {"svsl_weight", "settings"}
    assert options_of("study class-centers compare") == comparing_centers
    assert options_of("study class-centers layers") == VERBOSITY | {
        "run",
        "out",
        "classes",
        "sequences",
        "task",
        "data",
    }
    trials = VERBOSITY | {"recipe", "out", "settings", "budget", "max_concurrent_trials", "gpus"}
    assert options_of("sweep") == trials | {"scale"}
    assert options_of("tune") == trials | {"search", "trials", "init", "seed"}
    choosing = {"max_new_tokens", "temperature", "top_k", "top_p", "seed"}
    assert options_of("generate") == choosing | {"model", "prompt", "prompts", "shots", "checkpoint"}
    assert options_of("evaluate-lm pairs") == {"model", "data", "checkpoint"}
    assert options_of("study byte-embeddings align") == VERBOSITY | {"model", "out", "settings"}
    prompting = {"model", "data", "template", "train", "shots", "seeds", "checkpoint"}
    assert options_of("evaluate-lm prompts") == prompting
    columns = {"source_column", "target_column"}
    generating = {"model", "pairs", "train", "predictions", "max_new_tokens", "checkpoint"}
    assert options_of("evaluate-lm texts") == VERBOSITY | columns | generating
    labeled = {"data", "out", "test", "vectors", "text_column", "label_column", "checkpoint"}
    assert options_of("study class-centers sentences") == VERBOSITY | labeled | {"model"}
    assert options_of("inspect") == {"vectors", "version", "as_json"}
    assert options_of("submit") == {"command", "address", "working_dir", "env", "include", "no_wait"}
    assert options_of("doctor") == {"address", "target", "as_json"}
    access = {"allowed_host", "token_file", "requests_per_client", "client_header"}
    assert options_of("serve") == access | {"vectors", "host", "port", "version", "check_seconds", "explain_index"}
    assert options_of("demo") == {"out", "workers"}


def test_recipes_and_the_command_line_have_the_same_options():
    assert set(EmbeddingOptions.model_fields) == EMBEDDING
    assert set(BuildOptions.model_fields) == BUILD
    assert BuildOptions.parse(BuildOptions().to_dict(), "test") == BuildOptions()


@pytest.mark.parametrize(
    "recipe", sorted((Path(pipelines.__file__).parent / "recipes").glob("*.yaml")), ids=lambda path: path.stem
)
def test_shipped_recipes_are_valid(recipe):
    assert BuildOptions.parse(read_yaml(str(recipe)), recipe.name).tokenizer == "spacy"
