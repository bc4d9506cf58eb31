"""bitcipher: exact, explainable, additive word vectors, and language models that start from them.

These names are stable, and documented in `docs/api.md`; everything else may change. They are imported when they are
first used, so `import bitcipher` loads no other library. Those of `pipelines`, `cluster` and `training` need the
extras `pipelines` and `training`.
"""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from bitcipher.cipher import BitCipher
    from bitcipher.cooccurrence.count_matrices import CountMatrices
    from bitcipher.counts.context_window import ContextWindow
    from bitcipher.counts.merged_counts import MergedCounts
    from bitcipher.embedding.cipher_embedding import CipherEmbedding
    from bitcipher.embedding.refinement import Refinement
    from bitcipher.errors import BitcipherError, UnknownWordError
    from bitcipher.explain.contributions import Contribution, Explanation, NgramContribution
    from bitcipher.formats.registry import FORMATS
    from bitcipher.sentences.sentence_encoder import SentenceEncoder
    from bitcipher.stored_build import Build, open_build
    from bitcipher.vectors.ann_index import WordIndex
    from bitcipher.vectors.cipher_vectors import CipherVectors
    from bitcipher.vocabulary import OOV, Vocabulary
    from cluster.demo.docstrings import installed_docstrings
    from pipelines.functions import build, shard, update
    from pipelines.tokenizers.tokenizer_json import load_tokenizer
    from training.data.special_tokens import special_tokens
    from training.data.train_tokenizer import train_tokenizer
    from training.evaluation.decoding.stored_model import open_model
    from training.models.build import build_model
    from training.models.checkpoint import load_model, save_model
    from training.models.embeddings.embedding_table import token_embeddings
    from training.models.embeddings.initialize import init_embeddings
    from training.models.embeddings.options import EmbeddingInitOptions
    from training.models.options import ModelOptions
    from training.runs.launch.finetuning import FinetuningResult, finetune
    from training.runs.launch.pretraining import pretrain
    from training.runs.launch.run_result import RunResult

__version__ = "0.1.0"

# The stable names by module. This is the only table of upward imports: the library itself imports no other package.
_NAMES = {
    "bitcipher.cipher": ("BitCipher",),
    "bitcipher.cooccurrence.count_matrices": ("CountMatrices",),
    "bitcipher.counts.context_window": ("ContextWindow",),
    "bitcipher.counts.merged_counts": ("MergedCounts",),
    "bitcipher.embedding.cipher_embedding": ("CipherEmbedding",),
    "bitcipher.embedding.refinement": ("Refinement",),
    "bitcipher.errors": ("BitcipherError", "UnknownWordError"),
    "bitcipher.explain.contributions": ("Contribution", "Explanation", "NgramContribution"),
    "bitcipher.formats.registry": ("FORMATS",),
    "bitcipher.sentences.sentence_encoder": ("SentenceEncoder",),
    "bitcipher.stored_build": ("Build", "open_build"),
    "bitcipher.vectors.ann_index": ("WordIndex",),
    "bitcipher.vectors.cipher_vectors": ("CipherVectors",),
    "bitcipher.vocabulary": ("OOV", "Vocabulary"),
    "cluster.demo.docstrings": ("installed_docstrings",),
    "pipelines.functions": ("build", "shard", "update"),
    "pipelines.tokenizers.tokenizer_json": ("load_tokenizer",),
    "training.data.special_tokens": ("special_tokens",),
    "training.data.train_tokenizer": ("train_tokenizer",),
    "training.evaluation.decoding.stored_model": ("open_model",),
    "training.models.build": ("build_model",),
    "training.models.checkpoint": ("load_model", "save_model"),
    "training.models.embeddings.embedding_table": ("token_embeddings",),
    "training.models.embeddings.initialize": ("init_embeddings",),
    "training.models.embeddings.options": ("EmbeddingInitOptions",),
    "training.models.options": ("ModelOptions",),
    "training.runs.launch.finetuning": ("FinetuningResult", "finetune"),
    "training.runs.launch.pretraining": ("pretrain",),
    "training.runs.launch.run_result": ("RunResult",),
}

__all__ = [
    "FORMATS",
    "OOV",
    "BitCipher",
    "BitcipherError",
    "Build",
    "CipherEmbedding",
    "CipherVectors",
    "ContextWindow",
    "Contribution",
    "CountMatrices",
    "EmbeddingInitOptions",
    "Explanation",
    "FinetuningResult",
    "MergedCounts",
    "ModelOptions",
    "NgramContribution",
    "Refinement",
    "RunResult",
    "SentenceEncoder",
    "UnknownWordError",
    "Vocabulary",
    "WordIndex",
    "build",
    "build_model",
    "finetune",
    "init_embeddings",
    "installed_docstrings",
    "load_model",
    "load_tokenizer",
    "open_build",
    "open_model",
    "pretrain",
    "save_model",
    "shard",
    "special_tokens",
    "token_embeddings",
    "train_tokenizer",
    "update",
]

__getattr__ = lazy_names(__name__, _NAMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
