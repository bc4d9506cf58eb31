"""Transformer models of the `transformers` library: build, load, save, and access parts by uniform names."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.models.build import build_model
    from training.models.checkpoint import load_model, save_model
    from training.models.encoders import architecture_of
    from training.models.flops import training_flops
    from training.models.options import ARCHITECTURES, ModelOptions
    from training.models.parts import (
        compile_layers,
        embedding_tables,
        find_generator,
        hidden_states,
        input_embeddings,
        is_compiled,
        is_tied,
        logits,
        model_layers,
        output_bias,
        output_head,
        sentence_logits,
        token_tables,
    )

__all__ = [
    "ARCHITECTURES",
    "ModelOptions",
    "architecture_of",
    "build_model",
    "compile_layers",
    "embedding_tables",
    "find_generator",
    "hidden_states",
    "input_embeddings",
    "is_compiled",
    "is_tied",
    "load_model",
    "logits",
    "model_layers",
    "output_bias",
    "output_head",
    "save_model",
    "sentence_logits",
    "token_tables",
    "training_flops",
]

__getattr__ = lazy_names(
    __name__,
    {
        "build": ("build_model",),
        "checkpoint": ("load_model", "save_model"),
        "encoders": ("architecture_of",),
        "flops": ("training_flops",),
        "options": ("ARCHITECTURES", "ModelOptions"),
        "parts": (
            "compile_layers",
            "embedding_tables",
            "find_generator",
            "hidden_states",
            "input_embeddings",
            "is_compiled",
            "is_tied",
            "logits",
            "model_layers",
            "output_bias",
            "output_head",
            "sentence_logits",
            "token_tables",
        ),
    },
)
