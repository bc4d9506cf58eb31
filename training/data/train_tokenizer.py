"""Training of tokenizers: byte-level BPE, WordPiece and Unigram; the same texts give the same tokenizer.

The trainers of `tokenizers` go through words in the order of a hash map with random keys. By that order WordPiece's
letters get their numbers, which decide between equally frequent pairs; so it is told all its letters beforehand, for
which words are counted first. Unigram adds probabilities up in that order, on any number of threads; so sentencepiece
trains it, with which T5's was made. Byte-level BPE knows its 256 letters anyway, and only counts whole numbers.
"""

import io
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from bitcipher.errors import BitcipherError
from training.data.special_tokens import sentinel

UNKNOWN = "<unk>"
NAMES = ["<pad>", "<s>", "</s>", UNKNOWN, "<mask>"]
# The most frequent letters only, so that rare scripts do not fill a vocabulary. The trainer's own limit is the same.
WORDPIECE_LETTERS = 1000
# sentencepiece adds up what its threads found, each on its share of the words: so their number is fixed.
UNIGRAM_THREADS = 16
# How many times a word is repeated in one text that WordPiece's trainer reads: it counts words itself.
REPEATS = 1000


def train_tokenizer(
    texts: Iterable[str], kind: str, size: int, *, lowercase: bool = False, sentinels: int = 0
) -> Tokenizer:
    """Make a tokenizer from texts, which are read once, in any order; its special tokens come first.

    Args:
        texts: documents or lines.
        kind: "bpe" (byte-level, as RoBERTa and GPT-2), "wordpiece" (as BERT) or "unigram" (as T5).
        size: tokens in all; small texts may give fewer.
        lowercase: whether "The" and "the" are the same; WordPiece then takes accents off as well, as BERT does.
        sentinels: how many tokens `<extra_id_0>`, `<extra_id_1>`, … for gaps in texts it has (T5: 100).

    Raises:
        BitcipherError: if there is no such kind, no text or an invalid one, or no room for single letters.
    """
    makers = {"bpe": _byte_level_bpe, "wordpiece": _wordpiece, "unigram": _unigram}
    if kind not in makers:
        raise BitcipherError(f"There is no tokenizer of kind {kind!r}: take one of {', '.join(makers)}.")
    special = NAMES + [sentinel(number) for number in range(sentinels)]
    try:
        tokenizer = makers[kind](_some(texts), size, special, lowercase)
    except UnicodeEncodeError as error:
        raise BitcipherError(
            "A text to train a tokenizer on is not valid Unicode (it has half a surrogate pair) and holds "
            f"{error.object[max(0, error.start - 20) : error.end + 20]!a}: mend it or leave it out."
        ) from None
    # RoBERTa's mask takes the space before it along, so that "is <mask>." has the tokens that "is here." has.
    tokenizer.add_special_tokens([AddedToken(name, lstrip=name == "<mask>", normalized=False) for name in special])
    return tokenizer


def _some(texts: Iterable[str]) -> Iterator[str]:
    texts = iter(texts)
    first = next((text for text in texts if text.strip()), None)
    if first is None:
        raise BitcipherError("There is no text to train a tokenizer on: all documents are empty.")
    return chain([first], texts)


def _demand_size(kind: str, size: int, needed: int) -> None:
    if size < needed:
        raise BitcipherError(
            f"A tokenizer of kind {kind} with {size} tokens has no room for its single letters: "
            f"this text needs {needed} tokens or more."
        )


def _byte_level_bpe(texts: Iterator[str], size: int, special: list[str], lowercase: bool) -> Tokenizer:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    _demand_size("bpe", size, len(special) + len(alphabet))
    tokenizer = Tokenizer(models.BPE())
    if lowercase:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _wordpiece(texts: Iterator[str], size: int, special: list[str], lowercase: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()

    words = _counted_words(texts, tokenizer.normalizer)
    counts: Counter[str] = Counter()
    for word, times in words.items():
        for letter in word:
            counts[letter] += times
    letters = sorted(sorted(counts, key=lambda letter: (-counts[letter], letter))[:WORDPIECE_LETTERS])
    _demand_size("wordpiece", size, len(special) + 2 * len(letters))
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        # Letters within words are known to the trainer in advance only if they are called special.
        special_tokens=special + [f"##{letter}" for letter in letters],
        initial_alphabet=letters,
        limit_alphabet=len(letters),
        show_progress=False,
    )
    trained = Tokenizer.from_str(tokenizer.to_str())
    trained.train_from_iterator(_repeated(words), trainer)
    tokenizer.model = models.WordPiece(trained.get_vocab(), unk_token=UNKNOWN)
    return tokenizer


def _unigram(texts: Iterator[str], size: int, special: list[str], lowercase: bool) -> Tokenizer:
    import sentencepiece

    steps = [normalizers.NFKC(), normalizers.Lowercase()] if lowercase else [normalizers.NFKC()]
    normalizer = normalizers.Sequence(steps)
    words = _counted_words(texts, normalizer)
    content = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(f"{word}\t{times}" for word, times in words.items()),
            input_format="tsv",
            model_writer=content,
            model_type="unigram",
            vocab_size=size - len(special) + 1,  # one for its own unknown token, which is left out below
            hard_vocab_limit=False,
            normalization_rule_name="identity",
            unk_id=0,
            bos_id=-1,
            eos_id=-1,
            pad_id=-1,
            num_threads=UNIGRAM_THREADS,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise BitcipherError(f"No unigram tokenizer of {size} tokens comes of this text: {error}.") from None
    trained = sentencepiece.SentencePieceProcessor(model_proto=content.getvalue())
    pieces = [(trained.id_to_piece(number), trained.get_score(number)) for number in range(1, len(trained))]

    vocabulary = [(name, 0.0) for name in special] + pieces
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=special.index(UNKNOWN)))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def _counted_words(texts: Iterator[str], normalizer: normalizers.Normalizer) -> dict[str, int]:
    found: Counter[str] = Counter()
    for text in texts:
        found.update(text.split())
    words: Counter[str] = Counter()
    for word, times in found.items():
        for part in normalizer.normalize_str(word).split():
            words[part] += times
    return dict(sorted(words.items()))


def _repeated(words: dict[str, int]) -> Iterator[str]:
    for word, times in words.items():
        for start in range(0, times, REPEATS):
            yield f"{word} " * min(REPEATS, times - start)
