"""Bad input never gives a traceback or half an output, but one sentence and exit code 2 (see `bad_inputs.py`)."""

import runpy
import sys
from pathlib import Path

import bad_inputs
import pytest

from cluster.cli.main import all_commands
from pipelines.runtime import progress

# Files of vectors and of text that these commands read, or damage that they report.
ACCEPTED = {
    *(("neighbors", "vectors"), ("export", "vectors"), ("evaluate", "vectors"), ("infer --contexts", "vectors")),
    *(("status", "truncated manifest"), ("status", "binary manifest")),
}


@pytest.fixture(autouse=True)
def _no_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 3600)  # on a slow machine, commands print lines of progress


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Path]]:
    folder = tmp_path_factory.mktemp("inputs")
    return folder, bad_inputs.write_inputs(folder)


@pytest.mark.parametrize("command", bad_inputs.COMMANDS)
def test_bad_path_gives_one_sentence(command, inputs):
    folder, bad = inputs
    before = set(folder.iterdir())
    for kind, outcome in bad_inputs.outcomes(folder, command, bad):
        assert outcome.error is None, (command, kind, outcome.error)
        if (command, kind) in ACCEPTED:
            assert (outcome.code, outcome.err) == (0, ""), (command, kind, outcome)
        elif command == "verify" and "manifest" in kind:
            assert (outcome.code, outcome.err) == (2, ""), (command, kind, outcome)
            assert "1 damaged file" in outcome.out
        else:
            assert (outcome.code, outcome.out) == (2, ""), (command, kind, outcome)
            assert outcome.err.startswith("bitcipher: "), (command, kind, outcome)
            assert outcome.err.count("\n") == 1, (command, kind, outcome)
            # Work that was done before the mistake was found is kept, but there is none without a file.
            assert kind != "missing" or set(folder.iterdir()) == before


@pytest.mark.parametrize("command", [name for name, line in bad_inputs.COMMANDS.items() if "OUT" in line.split()])
def test_output_whose_name_is_not_utf8_gives_one_sentence(command, inputs):
    folder, _ = inputs
    out = folder / f"out-{bad_inputs.NOT_UTF8}"
    ((_, outcome),) = bad_inputs.outcomes(folder, command, {"text": folder / "text.txt"}, out)
    assert (outcome.code, outcome.out, outcome.error) == (2, "", None)
    assert outcome.err.startswith("bitcipher: The argument ")
    assert outcome.err.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize("command", all_commands())
def test_unknown_option_is_named(command):
    outcome = bad_inputs.run([*command.split(), "--nosuch"])
    assert (outcome.code, outcome.out, outcome.error) == (2, "", None)
    assert "--nosuch" in outcome.err or "Missing" in outcome.err
    assert "Traceback" not in outcome.err


def test_all_commands_with_paths_are_tried():
    lines = bad_inputs.COMMANDS.values()
    untried = {name for name in all_commands() if not any(f"{line} ".startswith(f"{name} ") for line in lines)}
    assert untried == {"submit", "doctor", "demo", "study downscaling sweep"}  # the last is `sweep`


@pytest.mark.long
def test_script_prints_a_table(monkeypatch, capfd):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [bad_inputs.__file__, "status"])
    runpy.run_path(bad_inputs.__file__, run_name="__main__")
    rows = capfd.readouterr().out.splitlines()
    assert len(rows) >= 8
    assert any(row.split()[:3] == ["status", "missing", "2"] for row in rows)
