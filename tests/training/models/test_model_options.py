import pytest

from bitcipher.errors import BitcipherError
from training.models.options import ModelOptions


@pytest.mark.parametrize(
    ("changed", "fact"),
    [
        ({"architecture": "llama"}, "`architecture` must be bert, roberta, modernbert, deberta, gpt2, opt or t5"),
        ({"num_hidden_layers": 0}, "`num_hidden_layers` must be at least 1, got 0"),
        (
            {"hidden_size": 30, "num_attention_heads": 4},
            "got 30 and 4",
        ),
        ({"dropout": 1.0}, "`dropout` must be less than 1"),
        (
            {"relative_attention_num_buckets": 64},
            "relative_attention_num_buckets` needs a t5; leave it out for roberta",
        ),
        ({"architecture": "t5", "relative_attention_num_buckets": 255}, "must be between 4 and 254, got 255"),
        ({"global_attn_every_n_layers": 1}, "global_attn_every_n_layers` needs a modernbert; leave it out for roberta"),
        ({"local_attention": 64}, "local_attention` needs a modernbert; leave it out for roberta"),
        ({"architecture": "modernbert", "local_attention": 31}, "`local_attention` must be a multiple of 2, got 31"),
        ({"next_sentence": True}, "next_sentence` needs a bert or modernbert"),
        (
            {"architecture": "bert", "tie_word_embeddings": False, "embedding_size": 32},
            "embedding_size` needs a roberta",
        ),
        (
            {"embedding_size": 256},
            "embedding_size` needs an untied model",
        ),
    ],
)
def test_invalid_options_raise(changed, fact):
    with pytest.raises(BitcipherError, match=fact):
        ModelOptions(**changed)


def test_embedding_dim():
    assert ModelOptions(hidden_size=64).embedding_dim == 64
    assert ModelOptions(hidden_size=64, tie_word_embeddings=False, embedding_size=32).embedding_dim == 32
