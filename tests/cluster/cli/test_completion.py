"""Shell completion of commands, options and values."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("line", "completions"),
    [("nei", {"neighbors"}), ("build --whatever --rec", {"--recipe"}), ("build --mode s", {"sum", "spectral"})],
)
def test_bash_completes(line, completions):
    words = f"bitcipher {line}"
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_BITCIPHER_COMPLETE": "complete_bash"}
    code = "import sys; sys.argv = ['bitcipher']; from cluster.cli.main import app; app(prog_name='bitcipher')"
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert set(result.stdout.split()) == completions, result.stderr
