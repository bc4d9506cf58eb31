"""Text generation with greedy search or sampling, from zero-, one- and few-shot prompts."""

from training.decoding.generate import generate
from training.decoding.open_model import open_model
from training.decoding.options import DecodingOptions
from training.decoding.prompts import PromptFile, read_prompts

__all__ = ["DecodingOptions", "PromptFile", "generate", "open_model", "read_prompts"]
