import shutil
from pathlib import Path

import document_shards
import pytest
from builds import OPTIONS, run_build, run_update, write_lines

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.builds.prune import prune
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.progress import StageProgress
from pipelines.runtime.ray_runtime import RayRuntime
from pipelines.shard.document_version import KINDS
from pipelines.store.build_folder import COUNTED_SHARDS
from pipelines.store.job_folder import list_job_ledgers
from pipelines.verify.verify import verify

FEW = OPTIONS.derive({"mode": "cat", "bits": 16, "window": 2, "min_count": 1})


def damage_of(folder: object, runtime=None) -> list[tuple[str, str]]:
    result = verify(str(folder), runtime or InProcessRuntime(), StageProgress())
    return [(damage.sentence, damage.advice) for damage in result.damage]


@pytest.fixture(scope="module")
def original(documents, tmp_path_factory) -> Path:
    """Build with two versions, merged segments and single shards."""
    folder = tmp_path_factory.mktemp("verified")
    files = [write_lines(folder / f"{i}.jsonl", documents[i * 20 : i * 20 + 20]) for i in range(4)]
    run_build(files[:3], folder / "build", FEW)
    run_update(folder / "build", files)
    return folder / "build"


@pytest.fixture
def build(original, tmp_path) -> Path:
    return shutil.copytree(original, tmp_path / "build")


def flip(path: Path, share: float = 0.5) -> None:
    content = bytearray(path.read_bytes())
    content[int(len(content) * share)] ^= 0x40
    path.write_bytes(content)


def first(folder: Path, pattern: str) -> Path:
    return min(folder.rglob(pattern))


def test_intact_build_has_no_damage(original):
    result = verify(str(original), InProcessRuntime(), StageProgress())
    assert (result.kind, result.damage) == ("build", [])
    assert result.size > sum(path.stat().st_size for path in original.rglob("*.parquet"))


@pytest.mark.parametrize(
    "pattern",
    ["*.words.parquet", "*.rows.parquet", "*.entries.parquet", "versions/*/words.parquet", "vectors.safetensors"]
    + ["refinement.safetensors", "vectors/manifest.json", "vectors/words.parquet", "versions/*.json", "report.json"],
)
def test_flipped_bit_and_missing_file_are_named(build, pattern):
    file = first(build, pattern)
    for damage in (flip, Path.unlink):
        damage(file)
        if pattern != "versions/*.json" or file.exists():  # a build without a version is another build
            found = " ".join(sentence for sentence, _ in damage_of(build))
            assert str(file.parent) in found
            assert file.name in found


def test_all_damaged_files_of_a_segment_are_named_with_their_sources(build):
    words = first(build / "shards", "*.words.parquet")
    entries = words.with_name(words.name.replace("words", "entries"))
    flip(words)
    flip(entries)
    found = damage_of(build)
    assert {str(entries), str(words)} == {sentence.split(" ")[0] for sentence, _ in found}
    for _, advice in found:
        assert ".jsonl" in advice
        assert "build again" in advice


def test_counts_of_another_shard_are_noticed(build):
    one, other, *_ = sorted((build / "shards").glob("*.rows.parquet"))
    shutil.copy(other, one)
    ((sentence, _),) = damage_of(build)
    assert sentence.startswith(f"{one} is damaged")


def test_entry_of_an_unfinished_job_is_named(original, documents, tmp_path, monkeypatch):
    build = shutil.copytree(original, tmp_path / "build")
    source = write_lines(tmp_path / "new.jsonl", documents[100:110])
    monkeypatch.setattr("pipelines.builds.make_version.merge_shards", stop)
    with pytest.raises(KeyboardInterrupt):
        run_update(build, [source])
    assert damage_of(build) == []
    (ledger,) = list_job_ledgers(str(build))
    (key,) = ledger.keys(COUNTED_SHARDS)
    flip(Path(ledger.entry_uri(COUNTED_SHARDS, key)))
    ((sentence, advice),) = damage_of(build)
    assert sentence.startswith(ledger.entry_uri(COUNTED_SHARDS, key))
    assert "next run does this work again" in advice


def stop(*_) -> None:
    raise KeyboardInterrupt


def test_folder_of_vectors(original, tmp_path):
    CipherVectors.load(original).save(tmp_path / "vectors")
    assert damage_of(tmp_path / "vectors") == []
    files = [tmp_path / "vectors" / name for name in ("vectors.safetensors", "words.parquet")]
    for file in files:
        flip(file)
    found = damage_of(tmp_path / "vectors")
    assert [sentence.split(" ")[0] for sentence, _ in found] == list(map(str, files))
    assert "bitcipher embed" in found[0][1]


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> Path:
    """Document shards with dropped and bad records."""
    folder = tmp_path_factory.mktemp("shards")
    lines = document_shards.write_lines(folder / "a.jsonl", *(f"The cat number {i} sat on the mat." for i in range(20)))
    lines.write_text(lines.read_text() + lines.read_text() + "{\n")
    document_shards.make_shards(folder / "out", lines, keep_dropped=True, max_bad_share=0.5)
    return folder / "out"


FOLDERS = ("documents/*", "keys/documents/*", "quarantine/*", "dropped/*")


@pytest.mark.parametrize("kind", [*FOLDERS, "manifests/000001.json", *(f"manifests/*-{name}-*" for name in KINDS)])
def test_folder_of_document_shards(shards, tmp_path, kind):
    folder = shutil.copytree(shards, tmp_path / "out")
    assert damage_of(folder) == []
    file = first(folder, kind)
    flip(file)
    ((sentence, advice),) = damage_of(folder)
    assert str(file) in sentence
    assert "bitcipher shard" in advice
    if kind != "manifests/000001.json":
        file.unlink()
        assert [str(file) in sentence for sentence, _ in damage_of(folder)] == [True]


@pytest.mark.long
def test_workers_find_the_same_damage(build, ray_cluster):
    flip(first(build, "*.entries.parquet"))
    with RayRuntime(2, 100 << 20) as runtime:
        assert damage_of(build, runtime) == damage_of(build)


def test_other_folders_raise(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BitcipherError, match="neither a build, nor a folder of vectors"):
            damage_of(folder)


def test_files_of_the_user_are_not_checked(build):
    for name in ("notes.txt", "lease/notes.json", "versions/mine/vectors.safetensors", "shards/mine.words.parquet"):
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).write_text("mine")
    assert damage_of(build) == []


def test_files_that_a_job_removes_meanwhile_are_no_damage(build, monkeypatch):
    class PruningRuntime(InProcessRuntime):
        def stream(self, spec, inputs):
            prune(str(build), keep=1)
            return super().stream(spec, inputs)

    with pytest.raises(BitcipherError, match=r"A job removed files of .* run the same command again"):
        damage_of(build, PruningRuntime())
    assert damage_of(build) == []
