"""Deterministic training of tokenizers: byte-level BPE, WordPiece and Unigram.

The trainers of `tokenizers` visit words in the order of a hash map with random keys. This order affects the algorithms
differently:

- Byte-level BPE starts from 256 fixed symbols and sums integers only, so its results do not depend on the order.
- WordPiece numbers the characters in this order, and the numbers break ties between equally frequent pairs. Therefore
  its trainer gets all characters in advance, from a first count of the words.
- Unigram sums probabilities in this order, which changes rounding. Therefore it is trained by sentencepiece, which
  also trained T5's tokenizer.
"""

import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from bitcipher.errors import BitcipherError
from training.data.special_tokens import sentinel
from training.data.word_segmentation import WordSegmentation, word_segmentation

UNKNOWN = "<unk>"
SPECIAL_TOKENS = ["<pad>", "<s>", "</s>", UNKNOWN, "<mask>"]
# Maximum number of characters in a WordPiece vocabulary, so that rare scripts do not fill it. This is the trainer's
# default.
WORDPIECE_CHARACTERS = 1000
# sentencepiece adds up the results of its threads, so their number must be fixed.
UNIGRAM_THREADS = 16
# WordPiece's trainer counts words itself, so it gets each word as often as it occurs. This is the maximum number of
# repetitions in one text.
REPEATS = 1000


def train_tokenizer(
    texts: Iterable[str],
    kind: str,
    size: int,
    *,
    lowercase: bool = False,
    sentinels: int = 0,
    segmentation: str | None = None,
) -> Tokenizer:
    """Train a tokenizer. Its special tokens have the first ids. The order of the texts does not matter.

    Args:
        texts: documents or lines, read once.
        kind: "bpe" (byte-level, as in RoBERTa and GPT-2), "wordpiece" (as in BERT) or "unigram" (as in T5).
        size: number of tokens, including the special tokens. A small text can yield fewer.
        lowercase: lowercase the text; WordPiece then strips accents too, as BERT does.
        sentinels: number of sentinel tokens `<extra_id_0>`, `<extra_id_1>`, … (T5: 100).
        segmentation: name of the segmentation of words before "unigram" (see `word_segmentation`), or None.

    Raises:
        BitcipherError: if the kind or the segmentation does not exist, a segmentation is given for another kind than
            "unigram", all texts are empty, a text is not valid Unicode, or `size` is too small for the characters of
            the text.
    """
    trainers_by_kind = {"bpe": _byte_level_bpe, "wordpiece": _wordpiece, "unigram": _unigram}
    if kind not in trainers_by_kind:
        raise BitcipherError(f"The kind of a tokenizer must be one of {', '.join(trainers_by_kind)}, got {kind!r}.")
    if segmentation is not None:
        if kind != "unigram":
            raise BitcipherError(f"`segmentation` needs a tokenizer of kind unigram, got {kind}.")
        trainers_by_kind["unigram"] = partial(_unigram, segmentation=word_segmentation(segmentation))
    special = SPECIAL_TOKENS + [sentinel(number) for number in range(sentinels)]
    try:
        tokenizer = trainers_by_kind[kind](_require_text(texts), size, special, lowercase)
    except UnicodeEncodeError as error:
        raise BitcipherError(
            "A text is not valid Unicode: it has half a surrogate pair, near "
            f"{error.object[max(0, error.start - 20) : error.end + 20]!a}. Correct or remove it."
        ) from None
    # RoBERTa's mask token includes the preceding space, so that "is <mask>." has as many tokens as "is here.".
    tokenizer.add_special_tokens([AddedToken(name, lstrip=name == "<mask>", normalized=False) for name in special])
    return tokenizer


def sample_documents(documents: Iterable[str], fraction: float) -> Iterator[str]:
    """Yield the documents that a hash of their text draws, which does not depend on their validation split.

    Args:
        documents: documents, read once.
        fraction: fraction of the documents, above 0 and at most 1.
    """
    for document in documents:
        text = document.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=8, person=b"tokenizer").digest()
        if int.from_bytes(digest, "little") < fraction * 2**64:
            yield document


def _require_text(texts: Iterable[str]) -> Iterator[str]:
    texts = iter(texts)
    first = next((text for text in texts if text.strip()), None)
    if first is None:
        raise BitcipherError(
            "There is no text to train a tokenizer on: all documents are empty, or the sample has none."
        )
    return chain([first], texts)


def _check_size(kind: str, size: int, min_size: int) -> None:
    if size < min_size:
        raise BitcipherError(
            f"The vocabulary size of this {kind} tokenizer must be at least {min_size}, for the special tokens and the "
            f"characters of the text, got {size}."
        )


def _byte_level_bpe(texts: Iterator[str], size: int, special: list[str], lowercase: bool) -> Tokenizer:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    _check_size("bpe", size, len(special) + len(alphabet))
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

    words = _count_words(texts, tokenizer.normalizer)
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    alphabet = sorted(sorted(counts, key=lambda character: (-counts[character], character))[:WORDPIECE_CHARACTERS])
    _check_size("wordpiece", size, len(special) + 2 * len(alphabet))
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        # The trainer accepts continuation characters in advance only as special tokens.
        special_tokens=special + [f"##{character}" for character in alphabet],
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        show_progress=False,
    )
    trained_tokenizer = Tokenizer.from_str(tokenizer.to_str())
    trained_tokenizer.train_from_iterator(_repeat_words(words), trainer)
    tokenizer.model = models.WordPiece(trained_tokenizer.get_vocab(), unk_token=UNKNOWN)
    return tokenizer


def _unigram(
    texts: Iterator[str], size: int, special: list[str], lowercase: bool, segmentation: WordSegmentation | None = None
) -> Tokenizer:
    import sentencepiece

    steps = [normalizers.NFKC(), normalizers.Lowercase()] if lowercase else [normalizers.NFKC()]
    normalizer = normalizers.Sequence([*steps, *(segmentation.steps if segmentation else ())])
    words = _count_words(texts, normalizer)
    content = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(f"{word}\t{count}" for word, count in words.items()),
            input_format="tsv",
            model_writer=content,
            model_type="unigram",
            vocab_size=size - len(special) + 1,  # one more for sentencepiece's unknown token, which is dropped below
            hard_vocab_limit=False,
            normalization_rule_name="identity",
            unk_id=0,
            bos_id=-1,
            eos_id=-1,
            pad_id=-1,
            # Each affix is one token. sentencepiece would not learn all of them: it looks for parts of different words,
            # and splits words where the script changes, as it does at the mark.
            user_defined_symbols=list(segmentation.tokens) if segmentation else [],
            num_threads=UNIGRAM_THREADS,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise BitcipherError(
            f"sentencepiece cannot train a unigram tokenizer of {size} tokens on this text: {error}."
        ) from None
    processor = sentencepiece.SentencePieceProcessor(model_proto=content.getvalue())
    pieces = [(processor.id_to_piece(number), processor.get_score(number)) for number in range(1, len(processor))]

    vocabulary = [(name, 0.0) for name in special] + pieces
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=special.index(UNKNOWN)))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    metaspace = decoders.Metaspace()
    tokenizer.decoder = decoders.Sequence([metaspace, *segmentation.decoding]) if segmentation else metaspace
    return tokenizer


def _count_words(texts: Iterator[str], normalizer: normalizers.Normalizer) -> dict[str, int]:
    raw_words: Counter[str] = Counter()
    for text in texts:
        raw_words.update(text.split())
    words: Counter[str] = Counter()
    for word, count in raw_words.items():
        for part in normalizer.normalize_str(word).split():
            words[part] += count
    return dict(sorted(words.items()))


def _repeat_words(words: dict[str, int]) -> Iterator[str]:
    for word, count in words.items():
        for start in range(0, count, REPEATS):
            yield f"{word} " * min(REPEATS, count - start)
