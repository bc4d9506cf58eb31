"""Text from a model: greedy or sampled, from prompts with or without examples."""

from training.decoding.complete import complete
from training.decoding.folders import open_model
from training.decoding.options import DecodingOptions
from training.decoding.prompts import PromptFile, read_prompts

__all__ = ["DecodingOptions", "PromptFile", "complete", "open_model", "read_prompts"]
