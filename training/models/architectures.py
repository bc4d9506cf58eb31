"""Architectures that transformers lacks. Importing this module registers them with the Auto classes of transformers.

Without it, `from_pretrained` opens all other models that bitcipher writes.
"""

from training.models.deberta import DebertaMaskDecoderConfig
from training.models.projected import ProjectedRobertaConfig

ARCHITECTURE_CONFIGS = (DebertaMaskDecoderConfig, ProjectedRobertaConfig)
"""Configurations of the registered architectures."""
