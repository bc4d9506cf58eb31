"""Generator and discriminator of replaced-token detection: ELECTRA (Clark et al. 2020), DeBERTaV3 (He et al. 2021).

The generator is a masked language model, from which tokens are sampled. The discriminator is an encoder of the same
family and width that predicts for each token whether it was replaced. It gets the vectors of its input tokens from one
of three tables (He et al. 2021, section 3.2):

    es     E_D = E_G               one table, trained by both losses
    nes    E_D                     a table of its own
    gdes   E_D = sg(E_G) + E_Δ     the generator's table, to which the discriminator's loss has no gradient, and a
                                   difference that starts at zero
"""

import copy
from typing import cast

import torch
from huggingface_hub.dataclasses import strict
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedConfig, PreTrainedModel
from transformers import initialization as init

from training.models.families import FAMILIES, config_of_part, make_base
from training.models.parts import freeze_unused_parameters


@strict
class ReplacedTokenConfig(PreTrainedConfig):
    """Configurations of a generator and a discriminator of the same width and vocabulary."""

    model_type = "replaced-tokens"

    generator: dict | None = None
    """Configuration of the generator."""
    discriminator: dict | None = None
    """Configuration of the discriminator."""
    embedding_sharing: str = "gdes"
    """`es`, `nes` or `gdes`."""

    def part(self, name: str) -> PreTrainedConfig:
        """Return the configuration of the `generator` or the `discriminator`.

        Raises:
            ValueError: if it is missing, or of another family than BERT, RoBERTa, ModernBERT and DeBERTa.
        """
        return config_of_part(getattr(self, name), name)


class ReplacedTokenModel(PreTrainedModel):
    """A generator and a discriminator. The token embeddings and the output layer are those of the generator."""

    config_class = ReplacedTokenConfig
    _supports_sdpa = True
    supports_gradient_checkpointing = True

    def __init__(self, config: ReplacedTokenConfig) -> None:
        """Create both models with random weights."""
        super().__init__(config)
        generator, discriminator = config.part("generator"), config.part("discriminator")
        self.generator = FAMILIES[generator.model_type].masked(generator)
        self.discriminator = make_base(discriminator)
        width = discriminator.hidden_size
        self.detector = nn.ModuleDict({"dense": nn.Linear(width, width), "output": nn.Linear(width, 1)})
        if config.embedding_sharing == "es":
            # The generator's table is used instead. Without this one, it is neither stored nor trained.
            self.discriminator.set_input_embeddings(None)
        self.post_init()
        if config.embedding_sharing == "gdes":
            # The table of the discriminator holds E_Δ.
            init.zeros_(cast(nn.Embedding, self.discriminator.get_input_embeddings()).weight)

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            init.normal_(module.weight, std=self.config.part("discriminator").initializer_range)
            init.zeros_(module.bias)

    def get_input_embeddings(self) -> nn.Module:
        """Return the token embeddings of the generator."""
        return self.generator.get_input_embeddings()

    def get_output_embeddings(self) -> nn.Module:
        """Return the output layer of the generator."""
        return self.generator.get_output_embeddings()

    def detect(self, input_ids: Tensor) -> Tensor:
        """Return a logit for each token, which is positive if the discriminator takes the token for a replacement.

        Args:
            input_ids: [B, S] int64.

        Returns:
            [B, S].
        """
        hidden = self.discriminator(inputs_embeds=self._embed(input_ids)).last_hidden_state
        return self.detector["output"](functional.gelu(self.detector["dense"](hidden))).squeeze(-1)

    def discriminator_table(self) -> Tensor:
        """Return the table [V, H] of the discriminator's token embeddings, without gradients."""
        with torch.no_grad():
            return self._embed(torch.arange(self._generator_table.shape[0], device=self.device)[None])[0].clone()

    @property
    def _generator_table(self) -> Tensor:
        return cast(nn.Embedding, self.get_input_embeddings()).weight

    def _embed(self, input_ids: Tensor) -> Tensor:
        match self.config.embedding_sharing:
            case "es":
                return functional.embedding(input_ids, self._generator_table)
            case "nes":
                return self.discriminator.get_input_embeddings()(input_ids)
            case _:
                shared = functional.embedding(input_ids, self._generator_table.detach())
                return shared + self.discriminator.get_input_embeddings()(input_ids)


def build_pair(
    generator: PreTrainedConfig, discriminator: PreTrainedConfig, embedding_sharing: str
) -> ReplacedTokenModel:
    """Return a generator and a discriminator with random weights; with `nes`, both tables start equal."""
    parts = {"generator": generator.to_dict(), "discriminator": discriminator.to_dict()}
    config = ReplacedTokenConfig(
        **parts,
        embedding_sharing=embedding_sharing,
        pad_token_id=generator.pad_token_id,
        tie_word_embeddings=generator.tie_word_embeddings,
    )
    model = ReplacedTokenModel(config)
    freeze_unused_parameters(model.generator)
    if embedding_sharing == "nes":
        with torch.no_grad():
            model.discriminator.get_input_embeddings().weight.copy_(model.get_input_embeddings().weight)
    return model


def find_encoder(model: PreTrainedModel) -> PreTrainedModel:
    """Return the model that tasks use: the discriminator if there is one, or the model itself."""
    return extract_discriminator(model) if isinstance(model, ReplacedTokenModel) else model


def extract_discriminator(model: ReplacedTokenModel) -> PreTrainedModel:
    """Return the discriminator as an encoder of its own, whose table is E_G, E_D or E_G + E_Δ.

    The encoder is a model of transformers, without the layers that detect replaced tokens.
    """
    table = model.discriminator_table()
    encoder = copy.deepcopy(model.discriminator)
    embeddings = nn.Embedding(*table.shape, padding_idx=encoder.config.pad_token_id)
    embeddings.weight = nn.Parameter(table)
    encoder.set_input_embeddings(embeddings)
    return encoder
