"""Damage to each kind of stored file: every command notices it, or gives the same result, and `verify` finds it."""

import hashlib
import random
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import document_shards
import pytest
from builds import OPTIONS, run_build, run_update, write_lines
from damaged_content import damages, judge
from forked_commands import Outcome, run_forked

FEW = OPTIONS.derive({"mode": "cat", "bits": 16, "window": 2, "min_count": 1})


@dataclass(frozen=True)
class Use:
    """A command that reads a folder, and what it returns."""

    arguments: tuple[str, ...]
    """Arguments, with FOLDER for the folder and OUT for a new name."""
    result: str | None = None
    """Files whose SHA-256 are the result, as a pattern below OUT or FOLDER."""

    def run(self, folder: Path) -> Outcome:
        out = folder.parent / "out"
        paths = {"FOLDER": str(folder), "OUT": str(out), "NEW": str(folder.parent / "new.jsonl")}
        root, _, pattern = (self.result or "OUT/*").partition("/")

        def digests() -> list[str]:
            return [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(paths[root]).glob(pattern))]

        try:
            return run_forked([paths.get(argument, argument) for argument in self.arguments], digests)
        finally:
            for path in (out, folder.parent / "out.html"):
                shutil.rmtree(path, ignore_errors=True)


VERIFY = Use(("verify", "FOLDER"))
NEIGHBORS = Use(("neighbors", "FOLDER", "the", "--topn", "3"))
INSPECT = Use(("inspect", "FOLDER"))
EMBED = Use(("embed", "FOLDER", "--mode", "sum", "--out", "OUT"), "OUT/**/vectors.safetensors")
FACTOR = Use(
    ("embed", "FOLDER", "--mode", "spectral", "--vector-size", "4", "--out", "OUT"), "OUT/**/vectors.safetensors"
)
COUNTS = Use(("export", "FOLDER", "--format", "counts", "--out", "OUT"), "OUT/*")
EXPORT = Use(("export", "FOLDER", "--format", "numpy", "--out", "OUT"), "OUT/*")
UPDATE = Use(("update", "FOLDER", "NEW"), "FOLDER/**/vectors.safetensors")
BUILD = Use(("build", "FOLDER", "--tokenizer", "whitespace", "--out", "OUT"), "OUT/**/vectors.safetensors")
SHARD = Use(("shard", "NEW", "--out", "FOLDER"), "FOLDER/documents/000002-*")

# Kinds of files: the folder they are in, a pattern, and the commands that read them.
KINDS = {
    "words of a part": ("build", "s*/*.words.parquet", (EMBED, COUNTS, UPDATE)),
    "rows of a part": ("build", "s*/*.rows.parquet", (EMBED, FACTOR, COUNTS, UPDATE)),
    "pairs of a part": ("build", "s*/*.entries.parquet", (EMBED, FACTOR, COUNTS, UPDATE)),
    "vocabulary": ("build", "versions/000002-*/words.parquet", (EMBED, COUNTS, UPDATE)),
    "vectors": ("build", "versions/000002-*/vectors/vectors.safetensors", (NEIGHBORS, EXPORT, UPDATE)),
    "refinement": ("build", "versions/000002-*/vectors/refinement.safetensors", (NEIGHBORS, EXPORT, UPDATE)),
    "words of vectors": ("build", "versions/000002-*/vectors/words.parquet", (NEIGHBORS, EXPORT, UPDATE)),
    "manifest of vectors": ("build", "versions/000002-*/vectors/manifest.json", (NEIGHBORS, EXPORT, UPDATE)),
    "manifest": ("build", "versions/000002.json", (NEIGHBORS, EMBED, UPDATE)),
    "old manifest": ("build", "versions/000001.json", (NEIGHBORS, EMBED, UPDATE)),
    "table of sources": ("build", "versions/000002-*/sources.parquet", (NEIGHBORS, UPDATE)),
    "table of tasks": ("build", "versions/000002-*/tasks.parquet", (NEIGHBORS, UPDATE)),
    "table of shards": ("build", "versions/000002-*/shards.parquet", (NEIGHBORS, UPDATE)),
    "table of segments": ("build", "versions/000002-*/segments.parquet", (NEIGHBORS, EMBED, COUNTS, UPDATE)),
    "report": ("build", "versions/000002-*/report.json", (INSPECT, UPDATE)),
    "lease": ("build", "lease/*.json", (NEIGHBORS, UPDATE)),
    "ledger entry": ("interrupted", "ledger/**/*.json", (UPDATE,)),
    "document shard": ("shards", "documents/*", (BUILD, SHARD)),
    "keys": ("shards", "keys/*/*", (BUILD, SHARD)),
    "dropped records": ("shards", "dropped/*", (BUILD, SHARD)),
    "manifest of shards": ("shards", "manifests/*.json", (BUILD, SHARD)),
    "table of shards of documents": ("shards", "manifests/*-files-*", (BUILD, SHARD)),
    "table of sources of shards": ("shards", "manifests/*-sources-*", (BUILD, SHARD)),
    "table of tasks of shards": ("shards", "manifests/*-tasks-*", (BUILD, SHARD)),
}


@pytest.fixture(scope="module")
def folders(documents, tmp_path_factory) -> dict[str, Path]:
    """A build of two versions, a build with an interrupted update, and document shards."""
    folder = tmp_path_factory.mktemp("intact")
    texts = [text[:300] for text in documents]
    new, *files = (
        write_lines(folder / f"{name}.jsonl", texts[i * 10 : i * 10 + 10]) for i, name in enumerate(["new", *"abcd"])
    )
    run_build(files[:3], folder / "build", FEW)
    run_update(folder / "build", files)
    shutil.copytree(folder / "build", folder / "interrupted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipelines.builds.make_version.merge_shards", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_update(folder / "interrupted", [new])
    lines = document_shards.write_lines(folder / "twice.jsonl", *texts[:20], *texts[:9])
    document_shards.make_shards(folder / "shards", lines, keep_dropped=True)
    return {name: folder / name for name in ("build", "interrupted", "shards")}


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("flips", "cuts"),
    [
        pytest.param(2, 1, marks=pytest.mark.long),
        pytest.param(100, 20, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_noticed(folders, tmp_path, monkeypatch, print_measurement, kind, flips, cuts):
    monkeypatch.setattr("pipelines.store.lease.HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr("pipelines.store.lease.EXPIRY_SECONDS", 1.0)
    name, pattern, uses = KINDS[kind]
    original, folder = folders[name], tmp_path / "copy"
    shutil.copy(original.parent / "new.jsonl", tmp_path)
    intact = {}
    for use in uses:
        shutil.copytree(original, folder)
        intact[use] = use.run(folder)
        assert intact[use].code == 0, intact[use].err
        shutil.rmtree(folder)
    state, found = random.Random(kind), Counter()
    files = sorted(path.relative_to(original) for path in original.glob(pattern))
    contents = (
        (file, damage) for file in files for damage in damages((original / file).read_bytes(), state, flips, cuts)
    )
    for file, content in state.sample(list(contents), flips + cuts):
        if content == (original / file).read_bytes():
            continue
        shutil.copytree(original, folder)
        (folder / file).write_bytes(content)
        outcome = VERIFY.run(folder)
        is_found = outcome.code == 2 and file.name in outcome.out + outcome.err
        found["verify found" if is_found else "verify missed"] += 1
        for use in uses:
            found[judge(use.run(folder), intact[use], folder / file)] += 1
        shutil.rmtree(folder)
    print_measurement(f"| {kind} | {dict(found)} |")
    assert not {"crash", "traceback", "silent", "verify missed"} & found.keys()
