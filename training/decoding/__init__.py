"""Text generation with greedy search or sampling, from zero-, one- and few-shot prompts."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.decoding.generation import generate
    from training.decoding.options import DecodingOptions
    from training.decoding.prompts import PromptFile, read_prompts
    from training.decoding.stored_model import open_model
    from training.decoding.targets import generate_targets

__all__ = ["DecodingOptions", "PromptFile", "generate", "generate_targets", "open_model", "read_prompts"]

__getattr__ = lazy_names(
    __name__,
    {
        "generation": ("generate",),
        "stored_model": ("open_model",),
        "targets": ("generate_targets",),
        "options": ("DecodingOptions",),
        "prompts": ("PromptFile", "read_prompts"),
    },
)
