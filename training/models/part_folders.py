"""Parts of models that transformers has no class for, as models of their own in subfolders.

generator/       the masked language model of replaced-token detection
discriminator/   its encoder, with the token embeddings that it reads
encoder/         the encoder of a model for sentence views
"""

from collections.abc import Mapping

import torch
from torch import Tensor
from transformers import PreTrainedModel

from training.models.families import FAMILIES, make_base
from training.models.replaced_tokens import ReplacedTokenModel
from training.models.sentence_views import SentenceViewModel


def make_parts(model: PreTrainedModel, weights: Mapping[str, Tensor]) -> dict[str, PreTrainedModel]:
    """Return the parts of a model by the names of their subfolders; none for a model that transformers opens.

    Args:
        model: model, whose layers can be distributed over workers.
        weights: all of its weights by their names.
    """
    with torch.random.fork_rng(devices=[]):  # new models draw random weights, which are replaced
        if isinstance(model, SentenceViewModel):
            encoder = make_base(model.config.encoder_config())
            encoder.load_state_dict(_weights_of("encoder", weights))
            return {"encoder": encoder}
        if isinstance(model, ReplacedTokenModel):
            generator, discriminator = (model.config.part(name) for name in ("generator", "discriminator"))
            masked = FAMILIES[generator.model_type].masked(generator)
            masked.load_state_dict(_weights_of("generator", weights))
            encoder = make_base(discriminator)
            own, table = _weights_of("discriminator", weights), _table_name(encoder)
            if model.config.embedding_sharing != "nes":
                shared = masked.get_input_embeddings().weight.detach()
                # With gdes, the discriminator has the difference from the generator's table.
                own[table] = shared + own[table] if model.config.embedding_sharing == "gdes" else shared
            encoder.load_state_dict(own)
            return {"generator": masked, "discriminator": encoder}
    return {}


def _weights_of(part: str, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    prefix = f"{part}."
    return {name.removeprefix(prefix): each for name, each in weights.items() if name.startswith(prefix)}


def _table_name(encoder: PreTrainedModel) -> str:
    table = encoder.get_input_embeddings().weight
    return next(name for name, weight in encoder.named_parameters() if weight is table)
