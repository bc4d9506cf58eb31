"""Preparation of a training run: tokenizer, token shards, and cipher vectors of the tokens.

Results are cached in folders named after a hash of their inputs, so runs with the same inputs share them.
"""

from training.prepare.examples import check_sources, prepare_examples
from training.prepare.recipe_inputs import RecipeInputs, inputs_of_recipes, vectors_listing
from training.prepare.text import name_sources, prepare_text
from training.prepare.vectors import prepare_vectors

__all__ = [
    "RecipeInputs",
    "check_sources",
    "inputs_of_recipes",
    "name_sources",
    "prepare_examples",
    "prepare_text",
    "prepare_vectors",
    "vectors_listing",
]
