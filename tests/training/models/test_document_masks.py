"""Documents that share a sequence are processed as if each were alone."""

import pytest
import torch
from tiny_models import VOCABULARY, model_of

from training.models.parts import hidden_states

LENGTHS = (5, 1, 6)


@pytest.mark.parametrize("kind", ["bert", "roberta", "modernbert", "gpt2", "opt"])
def test_documents_do_not_depend_on_each_other(kind):
    model = model_of(kind).eval()
    if kind == "modernbert":
        model.config.local_attention = 4  # two tokens on either side in some layers
        assert model.config.sliding_window == 2
    ids = torch.randint(9, VOCABULARY, (1, sum(LENGTHS)), generator=torch.Generator().manual_seed(0))
    numbers = torch.repeat_interleave(torch.tensor(LENGTHS))[None]
    together = hidden_states(model, {"input_ids": ids, "document_ids": numbers})
    alone = [hidden_states(model, {"input_ids": each}) for each in ids.split(LENGTHS, dim=1)]
    torch.testing.assert_close(together, torch.cat(alone, dim=1))
    assert not torch.allclose(together, hidden_states(model, {"input_ids": ids}))
