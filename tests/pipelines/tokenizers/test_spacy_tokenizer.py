import pyarrow as pa
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.lang.en import English

from pipelines.tokenizers import spacy_english
from pipelines.tokenizers.registry import make_tokenizer

SENTENCES = [
    "We can't, won't and shouldn't've done it; you cannot either, y'all'd've said so.",
    "I'm sure they're Sam's, it's the boys' 'n' that's what she'd've wanted o'clock.",
    "Visit https://www.example.org/a_b-c/(d)?e=f&g=h#i, or mail first.last+tag@mail.example.co.uk!",
    "The U.S. and the U.K. met at 10 a.m. in St. Louis, Mo., e.g. Mr. O'Neil, Ph.D., i.e. him.",
    "It's 10km, 5.5kg and 3GB at 20°C for $1,234.56 or £5 (±2%), about 1/2 of 1e-5.",
    "Wow 😀😀 great👍🏽! :-) ;) <3 xD 👨‍👩‍👧 (:",
    '“Well,” she said, ‘it’s “fine”’ … "really"... isn’t it?! «oui»',
    "A well-known, state-of-the-art mother-in-law—or not--she 1990-2000 re-entered pre–war",
    "Two  spaces,\ta tab,\na newline\n\n two, and\u00a0one that does not break.  ",
    "  leading space; gonna wanna dunno lemme gotta; 'tis 'twas; ma'am",
    "C++ and C# in .NET v2.0.1, file.txt, /usr/bin/env, user@host:~$ a_b --flag=x #tag @name",
    "naïve café façade coöperate Zürich 北京 Москва ΟΔΟΣ İstanbul ﬀ 𝒳",
    "(a) [b] {c} a,b a.b. a;b a:b a/b a&b a+b=c a*b <i>x</i> &amp; ***",
    "",
    " \n ",
    "9am 12pm 7p.m. Jan. Dec. vs. etc. et al. Inc. Co. Nov.5 No.1 'em 'cause",
]
# Joining sentences by several kinds of white space puts their ends and starts next to each other.
TEXTS = [*SENTENCES, "\n".join(SENTENCES), "\u3000".join(reversed(SENTENCES)), "\x1f".join(SENTENCES).upper()]


@pytest.fixture(scope="module")
def spacy_tokens():
    """Tokens of each text by spaCy itself, without white space."""
    nlp = spacy.blank("en")
    return [[token for token in nlp(text) if not token.is_space] for text in TEXTS]


@pytest.mark.parametrize("name", ["spacy", "spacy-exact"])
@pytest.mark.parametrize("lowercase", [True, False])
def test_tokens_equal_those_of_spacy_without_white_space(tokens_of, name, lowercase, spacy_tokens):
    shard = make_tokenizer(name, lowercase).tokenize(pa.array(TEXTS, pa.large_string()))
    expected = [[token.lower_ if lowercase else token.text for token in tokens] for tokens in spacy_tokens]
    assert tokens_of(shard) == expected
    assert len(shard.ids) == sum(map(len, expected))
    assert [] in expected


def test_tokens_of_few_chunks_equal_those_of_spacy(tokens_of, spacy_tokens, monkeypatch):
    monkeypatch.setattr(spacy_english, "FEW_CHUNKS", 2_000)
    monkeypatch.setattr(spacy_english, "english_tokenizer", None)  # none is made
    shard = make_tokenizer("spacy", lowercase=False).tokenize(pa.array(TEXTS, pa.large_string()))
    assert tokens_of(shard) == [[token.text for token in tokens] for tokens in spacy_tokens]


def test_joins_are_the_places_at_which_spacy_splits_special_cases():
    nlp = English()
    cases = nlp.tokenizer.rules
    nlp.tokenizer.rules = {}
    parts = [[token.text for token in nlp.tokenizer(case)] for case in cases if not case.isspace()]
    expected = {("".join(part[:i]), "".join(part[i:])) for part in parts for i in range(1, len(part))}
    assert spacy_english.find_joins() == expected
    assert len(expected) > 400


NLP = spacy.blank("en")
TOKENIZER = make_tokenizer("spacy", lowercase=False)


@given(st.text("aAbcdefghijklmnopqrstuvwxyzIMSTZ", min_size=1))
def test_patterns_of_spacy_match_no_strings_of_letters(letters):
    rules = NLP.tokenizer
    assert not any(rule(letters) for rule in (rules.prefix_search, rules.suffix_search, rules.url_match))
    assert not list(rules.infix_finditer(letters))


PARTS = (
    "' '' '' ’ em 'em 'em. em, n' doin' 'bout bout : :) ) - ( :-) 8 8-D D a.m . a.m. p.m So S 's "
    "(*_* *) * _ o o: the U. S. i'"
).split()


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(["", " ", " ", " ", " ", "  ", "\n", "\u00a0"]))))
def test_special_cases_across_spaces_equal_those_of_spacy(parts):
    """In "doin' 'em", the two apostrophes are a special case, and 'em is split."""
    text = "".join(part + space for part, space in parts)
    expected = [token.text for token in NLP(text) if not token.is_space]
    shard = TOKENIZER.tokenize(pa.array([text], pa.large_string()))
    assert shard.words.take(pa.array(shard.ids)).to_pylist() == expected


def test_tokens_of_an_english_text(tokens_of):
    text = "You cannot walk 10km to the U.S. today. Don't!"
    (tokens,) = tokens_of(make_tokenizer("spacy", lowercase=True).tokenize(pa.array([text], pa.large_string())))
    assert tokens == "you can not walk 10 km to the u.s. today . do n't !".split()


def test_batches_and_renewed_tokenizers_do_not_change_the_tokens(tokens_of, monkeypatch):
    expected = tokens_of(make_tokenizer("spacy", lowercase=True).tokenize(pa.array(TEXTS, pa.large_string())))
    monkeypatch.setattr(spacy_english, "CHUNKS_PER_CALL", 7)
    monkeypatch.setattr(spacy_english, "CHUNKS_BEFORE_RENEWAL", 100)
    tokenizer = make_tokenizer("spacy", lowercase=True)
    assert tokens_of(tokenizer.tokenize(pa.array(TEXTS[:9], pa.large_string()))) == expected[:9]
    assert tokens_of(tokenizer.tokenize(pa.array(TEXTS, pa.large_string()))) == expected


@pytest.mark.parametrize("name", ["spacy", "spacy-exact"])
@pytest.mark.parametrize("documents", [[], [""], ["", "a b", "", " "]])
def test_empty_documents_and_slices(tokens_of, name, documents):
    tokenizer = make_tokenizer(name, lowercase=True)
    whole = pa.array(["something before", *documents, "something after"], pa.large_string())
    for array in (pa.array(documents, pa.large_string()), whole.slice(1, len(documents))):
        assert tokens_of(tokenizer.tokenize(array)) == [text.split() for text in documents]
