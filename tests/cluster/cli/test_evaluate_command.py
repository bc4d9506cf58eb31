"""Output and errors of `bitcipher evaluate` and `study bit-cipher tables`."""

from dataclasses import replace

import builds
import labeled
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from cluster.cli.display.console import OUT
from cluster.cli.main import app
from pipelines.options import BuildOptions
from training.evaluation.probes.tasks import read_task
from training.studies.bit_cipher.paper_tables import paper_tables
from training.studies.bit_cipher.tables import reproduce_tables


def run(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def gum(tmp_path_factory):
    return labeled.write_gum(tmp_path_factory.mktemp("data") / "gum", 40)


@pytest.fixture(scope="module")
def conll2003(tmp_path_factory):
    return labeled.write_conll2003(tmp_path_factory.mktemp("data") / "conll2003", 40)


@pytest.fixture(scope="module")
def small_and_large(tmp_path_factory):
    """Two builds: of a text, and of half of it."""
    folder = tmp_path_factory.mktemp("builds")
    texts = [" ".join(word for word, _ in s) for s in labeled.sentences(labeled.TAGS, 9, 400)]
    paths = []
    for name, part in (("large", texts), ("small", texts[:200])):
        source = builds.write_lines(folder / f"{name}.jsonl", part)
        options = BuildOptions(mode="cat", tokenizer="whitespace", min_count=1, memory_mib=600)
        builds.run_build([source], folder / name, options)
        paths.append(folder / name)
    return paths


def first_two_columns(grid):
    """Return the first two columns of a table of the paper."""
    return replace(grid, columns=grid.columns[:2], rows={size: cells[:2] for size, cells in grid.rows.items()})


def test_probe_reads_vectors_of_any_format(tmp_path, gum, conll2003, monkeypatch):
    monkeypatch.setattr(OUT, "width", 300)  # so that no path is wrapped
    vectors = labeled.informative_vectors(labeled.TAGS)
    vectors.save(tmp_path / "folder")
    vectors.export("word2vec", tmp_path / "text.vec")
    output = run("evaluate", tmp_path / "folder", tmp_path / "text.vec", "--pos", gum, "--seeds", 2)
    from_folder, from_text = (line.split() for line in output.splitlines() if line.startswith(str(tmp_path)))
    # The scores are equal, since both are the same table.
    assert from_folder[1:] == from_text[1:]
    assert from_folder[1] == "12"
    assert float(from_folder[2]) > 80
    assert from_folder[3] == "±"
    assert "span F1" not in output
    output = run("evaluate", tmp_path / "folder", "--ner", conll2003, "--seeds", 1)
    assert "span F1" in output
    assert "±" not in output


def test_evaluate_prints_each_set_and_section(tmp_path):
    vectors = labeled.informative_vectors(labeled.TAGS)
    vectors.save(tmp_path / "ours")
    (tmp_path / "sets").mkdir()
    for name in ("one", "two"):
        lines = [f"word{i}\tword{i + 1}\t{i}" for i in range(20)] + ["word1\tunicorn\t3"]
        (tmp_path / "sets" / f"{name}.txt").write_text("\n".join(lines))
    questions = tmp_path / "sets" / "questions.txt"
    questions.write_text(": four apart\nword0 word4 word8 word12\n: others\nword0 word1 word2 unicorn\n")
    output = run(
        *("evaluate", tmp_path / "ours", "--similarity", tmp_path / "sets", "--analogies", questions),
    )
    spearman = 100 * vectors.evaluate_word_pairs(tmp_path / "sets" / "one.txt").spearman
    rows = {line.split()[0]: line for line in output.splitlines() if line.strip()}
    assert f"{spearman:.1f} (95.2% known)" in rows["one.txt"]
    assert f"{spearman:.1f}" in rows["mean"]
    assert "unicorn" in rows["Not"]
    assert "(100.0% known)" in rows["four"]
    assert "(0.0% known)" in rows["others"]
    assert "(50.0% known)" in rows["total"]


def test_tables_of_the_paper_are_computed_from_builds(tmp_path, small_and_large, gum, conll2003):
    out = tmp_path / "out"
    grids = [first_two_columns(grid) for grid in paper_tables().grids if grid.table in (4, 6)]
    tasks = [read_task("pos", str(gum)), read_task("ner", str(conll2003))]
    names = []

    def begin(cells):
        assert cells == 2 * (
            2 + 2 + 2
        )  # for each build: Cat for ner, Cipher for pos, and random vectors for both tasks
        return names.append

    page = reproduce_tables(list(map(str, small_and_large)), tasks, str(out), [0], begin, grids)
    assert len(names) == 12
    lines = (out / "tables.md").read_text().splitlines()
    start = lines.index("## Table 4: Cat, entities (CoNLL-2003)")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start + 2 : start + 11]]
    assert rows[0] == ["text", "b = 25", "b = 50"]
    assert rows[4] == ["paper, 0.5 B", "89.90 (90.48)", "89.93 (90.45)"]
    small, large = (int(row[0].removesuffix(" tokens").replace(",", "")) for row in rows[2:4])
    assert small < large
    table = pq.read_table(out / "tables.parquet")
    measured = [row for row in table.to_pylist() if row["source"] == "here"]
    assert len(measured) == 12
    first = next(row for row in measured if row["mode"] == "cat" and row["bits"] == 25)
    assert rows[2][1] == f"{100 * first['accuracy']:.2f} ({100 * first['weighted_f1']:.2f})"
    assert first["dimensions"] == 200
    assert pyarrow.csv.read_csv(out / "tables.csv").num_rows == table.num_rows == 12 + 2 * 5 * 2
    assert page == str(out / "tables.md")
    assert "Options of the vectors" not in page_of(out)
    for figure in ("figure-1.png", "figure-3.png"):
        assert (out / figure).read_bytes().startswith(b"\x89PNG")
        assert f"({figure})" in page_of(out)


def page_of(folder):
    return (folder / "tables.md").read_text()


def test_table_1_has_models_of_the_largest_build_and_vectors_of_other_tools(tmp_path, small_and_large, gum):
    labeled.informative_vectors(labeled.TAGS).export("word2vec", tmp_path / "skip-gram.vec")
    arguments = (
        *("study", "bit-cipher", "tables"),
        *small_and_large,
        "--pos",
        gum,
        "--vectors",
        tmp_path / "skip-gram.vec",
    )
    output = run(*arguments, "--noise", "frequency", "--noise-over", "words", "--seeds", 1, "--out", tmp_path / "out")
    assert str(tmp_path / "out" / "tables.md") in output.replace("\n", "")
    page = page_of(tmp_path / "out")
    assert "noise frequency, noise_over words." in page
    table = page.split("## Table 1")[1].split("## Table 2")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if "|" in line]
    rows = {name: scores for name, *scores in lines}
    assert rows["GloVe.6B"] == ["", "85.50 (86.09)"]
    peer_name = str(tmp_path / "skip-gram.vec")
    assert rows[peer_name][1] == ""
    cells = pq.read_table(tmp_path / "out" / "tables.parquet").to_pylist()
    most = max(cell["tokens"] for cell in cells if cell["source"] == "here" and cell["tokens"])
    for name, mode, bits in (("Cipher", "cipher", 200), ("Cipher (Sum)", "sum", 200), ("Cipher (Cat)", "cat", 25)):
        (cell,) = (
            cell
            for cell in cells
            if (cell["source"], cell["tokens"], cell["mode"], cell["bits"]) == ("here", most, mode, bits)
            and cell["window"] in (None, 4)
        )
        assert rows[name][0] == f"{100 * cell['accuracy']:.2f} ({100 * cell['weighted_f1']:.2f})"
    (peer,) = (cell for cell in cells if cell["mode"] == peer_name)
    assert peer["accuracy"] > 0.8
    assert rows[peer_name][0].startswith(f"{100 * peer['accuracy']:.2f}")
    stored = [path.read_text() for path in (tmp_path / "out" / "cells").iterdir() if path.name.startswith("pos-cat")]
    assert all('"noise": "frequency"' in cell and '"noise_over": "words"' in cell for cell in stored)


def test_interrupted_tables_resume_from_finished_cells(tmp_path, small_and_large, gum):
    grids = [first_two_columns(grid) for grid in paper_tables().grids if grid.table == 6]
    task = read_task("pos", str(gum))

    class Stopped(Exception):
        pass

    def begin(cells):
        names = []

        def advance(name):
            names.append(name)
            if len(names) == 2:
                raise Stopped

        return advance

    builds_of_text = [str(small_and_large[0])]
    with pytest.raises(Stopped):
        reproduce_tables(builds_of_text, [task], str(tmp_path / "out"), [0], begin, grids)
    finished = {name: _modification_time(tmp_path / "out" / name) for name in storage.list_files(str(tmp_path / "out"))}
    assert len(finished) == 2
    reproduce_tables(builds_of_text, [task], str(tmp_path / "out"), [0], grids=grids)
    assert len(storage.list_files(str(tmp_path / "out" / "cells"))) == 3
    assert finished == {name: _modification_time(tmp_path / "out" / name) for name in finished}
    reproduce_tables(builds_of_text, [task], str(tmp_path / "whole"), [0], grids=grids)
    for name, size in storage.list_files(str(tmp_path / "whole")).items():
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), (name, size)
    # Other seeds give other cells.
    reproduce_tables(builds_of_text, [task], str(tmp_path / "out"), [0, 1], grids=grids)
    assert len(storage.list_files(str(tmp_path / "out" / "cells"))) == 6


def _modification_time(path):
    return path.stat().st_mtime_ns


def test_invalid_evaluations_raise(tmp_path, small_and_large, gum):
    small = str(small_and_large[1])
    with pytest.raises(BitcipherError, match="--similarity, --analogies, --pos or --ner"):
        run("evaluate", small)
    with pytest.raises(BitcipherError, match="--pos, --ner"):
        run("study", "bit-cipher", "tables", small, "--out", tmp_path / "out")
    with pytest.raises(BitcipherError, match="--noise"):
        run("study", "bit-cipher", "tables", small, "--pos", gum, "--noise", "white", "--out", tmp_path / "out")
    with pytest.raises(BitcipherError, match=r"nowhere\.vec"):
        run(
            *("study", "bit-cipher", "tables"),
            small,
            "--pos",
            gum,
            "--vectors",
            tmp_path / "nowhere.vec",
            "--out",
            tmp_path / "out",
        )
    with pytest.raises(BitcipherError, match="Two of the builds have the same counts"):
        run("study", "bit-cipher", "tables", small, small, "--pos", gum, "--out", tmp_path / "out")
    source = builds.write_lines(tmp_path / "a.jsonl", ["a b c d e f"])
    narrow = BuildOptions(mode="cat", bits=4, window=2, tokenizer="whitespace", min_count=1, memory_mib=600)
    builds.run_build([source], tmp_path / "narrow", narrow)
    with pytest.raises(BitcipherError, match=r"window of at least 4, .* has window 2"):
        run("study", "bit-cipher", "tables", tmp_path / "narrow", "--pos", gum, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
