"""Activations that are computed again in the backward pass do not change a run."""

import pytest
from tiny_runs import config_of, curve_of

from training.runs.pretraining_run import run_pretraining

pytestmark = pytest.mark.usefixtures("one_thread")

ENCODER = {"architecture": "modernbert", "dropout": 0.1}


@pytest.mark.parametrize(
    ("model", "objective"),
    [
        ({"dropout": 0.1}, "causal"),
        (ENCODER | {"generator_layers": 1}, "replaced_tokens"),
        (ENCODER | {"projector_size": 8}, "simclr"),
    ],
    ids=["causal", "replaced_tokens", "simclr"],
)
def test_run_is_the_same(model, objective, tiny_text, tmp_path):
    for name, value in (("kept", False), ("computed again", True)):
        loop = {"max_steps": 4, "micro_batch_size": 4, "activation_checkpointing": value}
        run_pretraining(config_of(tmp_path / name, tiny_text, model=model, objective={"name": objective}, loop=loop))
    assert curve_of(tmp_path / "kept") == curve_of(tmp_path / "computed again")
