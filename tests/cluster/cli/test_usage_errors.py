"""Wrong arguments: one sentence on stderr, and exit code 2."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from cluster.cli.main import AllCommands, all_commands, app

SENTENCES = {
    "build --out": "Option '--out' requires an argument; see `bitcipher build --help`.",
    "study arabic arcd --out": "Option '--out' requires an argument; see `bitcipher study arabic arcd --help`.",
    "build corpus": "Missing option '--out'; see `bitcipher build --help`.",
    "build corpus --out x --windows 2": "No such option: --windows (Possible options: --noise, --window); see "
    "`bitcipher build --help`.",
    "explore books --out x --words 0": "Invalid value for '--words': Input should be greater than or equal to 5; see "
    "`bitcipher explore --help`.",
    "verify": "Missing argument 'PATH'; see `bitcipher verify --help`.",
    "study nosuch": "No such command 'nosuch'; see `bitcipher study --help`.",
    "biuld corpus": "No such command 'biuld'; the nearest is `bitcipher build`; see `bitcipher --help`.",
    "filter corpus": "No such command 'filter'; the nearest is `bitcipher study downscaling filter`; see "
    "`bitcipher --help`.",
    "study bit-cipher tabels": "No such command 'tabels'; the nearest is `bitcipher study bit-cipher tables`; see "
    "`bitcipher study bit-cipher --help`.",
    "study bit-cypher": "No such command 'bit-cypher'; the nearest is `bitcipher study bit-cipher`; see "
    "`bitcipher study --help`.",
    "probe": "No such command 'probe'; the nearest is `bitcipher evaluate --pos`; see `bitcipher --help`.",
    "text-pairs": "No such command 'text-pairs'; see `bitcipher --help`.",
    "nosuch": "No such command 'nosuch'; see `bitcipher --help`.",
}


@pytest.mark.parametrize("line", SENTENCES)
def test_wrong_arguments_give_one_sentence(line):
    result = CliRunner().invoke(app, line.split(), prog_name="bitcipher")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.strip() == f"bitcipher: {SENTENCES[line]}"


def test_present_names_of_renamed_commands_exist():
    known = all_commands().keys() | {name for panel in AllCommands.modules.values() for name in panel}
    assert {name.partition(" --")[0] for name in AllCommands.renamed.values()} <= known


def test_no_arguments_give_the_help_page():
    result = CliRunner().invoke(app, [], prog_name="bitcipher")
    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: bitcipher")


def test_help_and_version_end_with_code_0():
    assert CliRunner().invoke(app, ["build", "--help"]).exit_code == 0
    assert CliRunner().invoke(app, ["--version"]).exit_code == 0


def test_program_gives_the_same_sentence():
    result = subprocess.run([sys.executable, "-m", "bitcipher", "nosuch"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
