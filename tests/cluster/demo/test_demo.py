"""The whole demo, on a generated package."""

import random
import sys
from pathlib import Path

import pytest

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from cluster.demo.demo import make_demo, show_demo
from pipelines.runtime.progress import StageProgress
from pipelines.store.stored_versions import StoredVersions

SUBJECTS = ("matrix", "function", "array", "number", "list", "table")
VERBS = ("should", "must", "can", "will")
ACTIONS = ("return", "compute", "hold", "contain", "accept")
POSITIONS = ("left", "right", "first", "last")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo") / "site-packages"
    root.mkdir()
    choose = random.Random(20).choice
    for module in range(20):
        sentences = [
            f"The {choose(SUBJECTS)} {choose(VERBS)} {choose(ACTIONS)} the {choose(POSITIONS)} {choose(SUBJECTS)} "
            f"of two because the {choose(SUBJECTS)} {choose(VERBS)} {choose(ACTIONS)} {choose(SUBJECTS)}."
            for _ in range(30)
        ]
        functions = [f'def f{i}():\n    """{sentence}"""\n' for i, sentence in enumerate(sentences)]
        (root / f"module_{module}.py").write_text("\n".join(functions))
    return root


@pytest.fixture(scope="module")
def demo(packages: Path) -> Path:
    out = packages.parent / "made"
    make_demo(str(out), [packages], 0, StageProgress())
    return out


def test_demo_writes_one_complete_directory(demo, packages):
    assert {path.name for path in demo.iterdir()} == {
        *("docstrings.jsonl.gz", "documents", "build", "vectors-sum", "report.html", "report.json")
    }
    assert {path.name for path in packages.parent.iterdir()} == {packages.name, demo.name}


def test_build_records_the_final_path_of_the_text(demo):
    (source,) = StoredVersions(str(demo / "build")).find().sources
    assert source.uri.startswith(f"{demo}/documents/documents/")
    assert Path(source.uri).stat().st_size == source.size


def test_both_tables_have_the_same_words(demo):
    spectral, summed = CipherVectors.load(demo / "build"), CipherVectors.load(demo / "vectors-sum")
    assert spectral.index_to_key == summed.index_to_key
    assert "matrix" in spectral
    assert spectral.vector_size <= len(spectral) < summed.vector_size == 200
    assert spectral.manifest["embedding"]["mode"] == "spectral"
    assert summed.manifest["embedding"]["mode"] == "sum"


def test_page_shows_words_and_both_tables(demo):
    page = (demo / "report.html").read_text()
    for text in ("<bdi>should</bdi>", "Map of words by Spectral", "Map of words by Sum", "600"):
        assert text in page
    assert str(demo.parent) not in page


def test_demo_prints_neighbors_and_next_commands(demo, capsys):
    show_demo(str(demo))
    printed = capsys.readouterr().out
    nearest = [other for other, _ in CipherVectors.load(demo / "build").most_similar("should", topn=5)]
    (line,) = [line for line in printed.splitlines() if line.startswith("should ")]
    assert line.split()[1 : 1 + len(nearest)] == nearest
    assert f"{demo}/report.html" in printed
    assert f"bitcipher neighbors {demo}/build should because" in printed
    assert f"bitcipher inspect {demo}/vectors-sum" in printed


def test_same_packages_give_the_same_vectors(demo, packages, tmp_path):
    again = tmp_path / "again"
    make_demo(str(again), [packages], 0, StageProgress())
    assert (again / "docstrings.jsonl.gz").read_bytes() == (demo / "docstrings.jsonl.gz").read_bytes()
    for name in ("build", "vectors-sum"):
        vectors, before = CipherVectors.load(again / name), CipherVectors.load(demo / name)
        assert vectors.vectors.tobytes() == before.vectors.tobytes()


def test_existing_directory_is_refused_and_unchanged(packages, tmp_path):
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(BitcipherError, match="already"):
        make_demo(str(tmp_path / "mine"), [packages], 0, StageProgress())
    assert (tmp_path / "mine").read_text() == "kept"


def test_failed_demo_leaves_no_files(tmp_path):
    root, target = tmp_path / "site-packages", tmp_path / "into"
    root.mkdir()
    (root / "small.py").write_text('"""Too few words to count them."""')
    target.mkdir()
    with pytest.raises(BitcipherError, match="No word reaches"):
        make_demo(str(target / "demo"), [root], 0, StageProgress())
    assert list(target.iterdir()) == []


def test_failed_demo_keeps_other_files(tmp_path):
    root, target = tmp_path / "site-packages", tmp_path / "demo"
    root.mkdir()
    (root / "small.py").write_text('"""Too few words to count them."""')

    class ProgressWithFile(StageProgress):
        def begin(self, name, total, done=0):
            (target / "work").mkdir(parents=True, exist_ok=True)
            (target / "work/thesis.txt").write_text("mine")
            return super().begin(name, total, done)

    with pytest.raises(BitcipherError, match="No word reaches"):
        make_demo(str(target), [root], 0, ProgressWithFile())
    assert [path.name for path in target.iterdir()] == ["work"]
    assert (target / "work/thesis.txt").read_text() == "mine"


def test_missing_library_is_named_before_work_starts(packages, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    with pytest.raises(BitcipherError, match=r"opentsne: install .*\[report\]"):
        make_demo(str(tmp_path / "demo"), [packages], 0, StageProgress())
    assert list(tmp_path.iterdir()) == []
