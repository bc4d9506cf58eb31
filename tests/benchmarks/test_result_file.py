"""Files of results, and what run.py does with errors, absent peers and interrupted runs."""

import argparse
import sys

import compare_embed
import compare_product
import pytest
import run
from peers import missing_peer
from ratios import Ratio
from result_file import Outcome, ResultFile, read_results, table_lines

RUN = {
    "commit": {"commit": "c" * 40, "changes": ""},
    "machine": {"processor": "made up", "cores": "2"},
    "options": {"runs": "1"},
    "date": {"started": "2026-01-01 00:00 UTC"},
}
DONE = Outcome("product", [Ratio("product: CPU", [1.0, 2.0, 4.0], [4.0, 4.0, 4.0], "s", "1/2")])


def test_table_is_made_again_from_the_file(tmp_path):
    path = tmp_path / "results.jsonl"
    results = ResultFile(path, RUN)
    results.add(DONE)
    results.add(Outcome("embed", error="ValueError: no text"))
    again = list(table_lines(*read_results(path)))
    assert again == list(table_lines(RUN, results.outcomes))
    assert "| product: CPU | 1/2 | – | 0.500 | 0.250 – 1.000 | 2.0 s | 4.0 s | 3 |" in again
    assert f"Commit {'c' * 40}, without uncommitted changes. 2026-01-01 00:00 UTC." in again
    assert "Failed: embed: ValueError: no text" in again


def test_file_with_a_cut_line_is_continued(tmp_path):
    path = tmp_path / "results.jsonl"
    ResultFile(path, RUN).add(DONE)
    with open(path, "a") as lines:
        lines.write('{"name": "embed", "fig')
    results = ResultFile(path, {**RUN, "date": {"started": "later"}})
    assert results.outcomes == {"product": DONE}
    assert results.run == RUN
    results.add(Outcome("embed"))
    assert set(read_results(path)[1]) == {"product", "embed"}


@pytest.mark.parametrize("part", ["commit", "machine", "options"])
def test_results_of_another_run_are_refused(tmp_path, part):
    path = tmp_path / "results.jsonl"
    ResultFile(path, RUN).add(DONE)
    with pytest.raises(SystemExit, match=f"another {part}: give --results a new file"):
        ResultFile(path, {**RUN, part: {"other": "value"}})


def test_missing_peers_are_named():
    absent = argparse.Namespace(glove=None, datatrove=None, web=[])
    assert "--glove PATH" in missing_peer("pairs", absent)
    assert "--datatrove PATH" in missing_peer("shard", absent)
    assert "--web PATH" in missing_peer("shard", absent)
    assert missing_peer("embed", absent) == ""


class TestRun:
    """run.py with comparisons that give a figure or fail; a process for each is not needed here."""

    @pytest.fixture
    def start(self, tmp_path, monkeypatch, capsys):
        def start(*names):
            monkeypatch.setattr(sys, "argv", ["run.py", *names, "--results", str(tmp_path / "results.jsonl")])
            with pytest.raises(SystemExit) as ended:
                run.main()
            return ended.value.code, capsys.readouterr()

        monkeypatch.setattr(run.signal, "signal", lambda *arguments: None)
        return start

    def test_error_does_not_lose_others_and_is_repeated(self, start, monkeypatch):
        calls = []

        def fail(options):
            calls.append("embed")
            yield Ratio("embed: first", [1.0], [2.0], "s")
            raise SystemExit("The program ended with 3.")

        def succeed(options):
            calls.append("product")
            yield Ratio("product: CPU", [1.0], [2.0], "s")

        monkeypatch.setattr(compare_embed, "figures", fail)
        monkeypatch.setattr(compare_product, "figures", succeed)
        code, printed = start("embed", "product")
        assert code == 1
        assert "Failed: embed: SystemExit: The program ended with 3." in printed.out
        assert "| embed: first |" in printed.out
        assert "| product: CPU |" in printed.out

        monkeypatch.setattr(compare_embed, "figures", succeed)
        code, printed = start("embed", "product")
        assert code == 0
        assert calls == ["embed", "product", "product"]
        assert "Failed" not in printed.out

    def test_named_comparison_without_its_peer_is_an_error(self, start):
        code, printed = start("pairs")
        assert code == 2
        assert "pairs needs --glove PATH" in printed.err

    def test_all_comparisons_skip_those_without_peers(self, start, monkeypatch):
        monkeypatch.setattr(run, "COMPARISONS", {"pairs": None, "product": compare_product})
        monkeypatch.setattr(compare_product, "figures", lambda options: [Ratio("product: CPU", [1.0], [2.0], "s")])
        code, printed = start()
        assert code == 0
        assert "Skipped: pairs needs --glove PATH" in printed.out
        assert "| product: CPU |" in printed.out
