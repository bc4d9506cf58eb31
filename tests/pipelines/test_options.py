from inspect import signature
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.counts.context_window import MAX_WINDOW
from bitcipher.embedding import cipher_embedding
from bitcipher.embedding.cipher_embedding import LOGS
from bitcipher.embedding.noise import NOISE_OVER, NOISES
from bitcipher.embedding.spectral.spectral_embedding import CONTEXTS
from bitcipher.errors import BitcipherError
from bitcipher.files.records import describe_fields
from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines import options
from pipelines.options import MODES, SPECTRAL, BuildOptions, EmbeddingOptions, UpdateOptions, is_option_of

VALUES = {"vector_size": 9, "context": "window", "spelling_share": 0.4, "bits": 9, "noise": "none", "log": "none"}


def choices(name: str) -> set[str]:
    return set(get_args(EmbeddingOptions.model_fields[name].annotation))


def test_each_option_has_a_help_text():
    texts = describe_fields(BuildOptions)  # of its own fields and those of its base classes
    assert texts.keys() == BuildOptions.model_fields.keys()
    assert texts["min_count"] == "Minimum count of a word. Rarer words are replaced by <oov>."
    assert texts["list_protocols"].startswith("Protocol of other stores")  # a description instead of a docstring


def test_choices_and_defaults_equal_those_of_the_library():
    assert set(MODES) == {SPECTRAL, *cipher_embedding.MODES}
    assert (choices("context"), choices("noise"), choices("log")) == (set(CONTEXTS), set(NOISES), set(LOGS))
    assert choices("noise_over") == set(NOISE_OVER)
    assert options.MAX_WINDOW == MAX_WINDOW
    share = signature(CipherVectors.with_spelling).parameters["share"]
    assert EmbeddingOptions().spelling_share == share.default


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("mode", MODES)
def test_options_of_another_mode_raise(name, mode):
    given = {"mode": mode, name: VALUES[name]}
    if is_option_of(name, mode):
        assert BuildOptions.parse(given, "recipe.yaml").to_dict()[name] == VALUES[name]
        return
    assert name not in BuildOptions(mode=mode).to_dict()
    for make in (lambda: BuildOptions.parse(given, "recipe.yaml"), lambda: EmbeddingOptions(**given)):
        with pytest.raises(BitcipherError, match=f"`{name}` is an option of mode .*, not of mode {mode}"):
            make()


def test_error_names_the_option_to_use_instead():
    with pytest.raises(BitcipherError, match=r"^recipe\.yaml: .* for sum, use `bits`"):
        BuildOptions.parse({"mode": "sum", "vector_size": 100}, "recipe.yaml")


@pytest.mark.parametrize(
    ("given", "fact"),
    [
        ({"window": 0}, "`window` must be between 1 and 128, got 0"),
        ({"min_count": "5"}, "`min_count` must be an integer"),
        ({"mode": "glove"}, "`mode` must be spectral, cat, sum or cipher"),
        ({"memory_mib": 100}, "`memory_mib` must be at least 600"),
        ({"radius": 4}, "no option `radius`"),
        ({"mode": "cipher", "bits": 1}, "`bits` must be at least 2"),
        ({"mode": "cat", "summed": True}, "`summed`"),
        ({"context": "positions", "summed": True}, "`summed`"),
        ({"word_list": "words", "min_count": 1}, "`word_list`"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_invalid_options_raise_with_their_name(given, fact):
    with pytest.raises(BitcipherError, match=rf"^recipe\.yaml: .*{fact}"):
        BuildOptions.parse(given, "recipe.yaml")


def test_max_drift_above_one_raises():
    with pytest.raises(BitcipherError, match="max_drift"):
        UpdateOptions(max_drift=1.5)


@given(st.sampled_from(MODES), st.sampled_from(MODES), st.integers(1, 128))
def test_derived_options_keep_options_of_both_modes(mode, other, window):
    options = BuildOptions(mode=mode, window=window, min_count=3)
    derived = options.derive({"mode": other})
    assert derived == BuildOptions(mode=other, window=window, min_count=3)
    assert derived.embedding == EmbeddingOptions(mode=other, window=window)
    assert BuildOptions.parse(derived.to_dict(), "test") == derived
