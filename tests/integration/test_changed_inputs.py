"""Commands that resume or cache, with inputs that changed between two calls: no result is stale.

`tests/changed_inputs.py` prints the table of commands and inputs.
"""

from pathlib import Path

import changed_inputs
import input_changes
import pytest

# Commands whose inputs are compared in different ways. All commands are in the slow test.
USUAL = ("update, word list", "infer", "shard, rules", "train, interrupted", "finetune", "finetune --grid")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    input_changes.write_inputs(folder)
    return folder


def faults(name: str, inputs: Path, scratch: Path) -> list[tuple[str, changed_inputs.Outcome]]:
    found = list(changed_inputs.outcomes(name, inputs, scratch))
    assert len(found) == len(input_changes.CASES[name].changes)
    return [(changed, outcome) for changed, outcome in found if outcome.name in changed_inputs.FAULTS]


@pytest.mark.long
@pytest.mark.parametrize("name", USUAL)
def test_usual_commands_use_no_stale_result(name, inputs, tmp_path):
    assert not faults(name, inputs, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in input_changes.CASES if name not in USUAL])
def test_no_command_uses_a_stale_result(name, inputs, tmp_path):
    assert not faults(name, inputs, tmp_path)
