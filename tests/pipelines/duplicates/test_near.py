"""Near duplicates: signatures, bands, sketches, and the recall of planted copies."""

from hashlib import sha1

import numpy as np
import pyarrow as pa
import pytest
from datasketch import MinHash
from duplicate_reference import edit_words, group_by, jaccard, letters_of, shingles_of, shuffle_rows
from hypothesis import given
from hypothesis import strategies as st

from pipelines.duplicates.copies import find_copies
from pipelines.duplicates.decisions import decide_documents
from pipelines.duplicates.keys import compute_keys, document_id, fingerprint
from pipelines.duplicates.near_keys import band_keys, compute_signatures, hash_shingles, make_sketches
from pipelines.duplicates.near_pairs import MAX_COMPARED, find_near_pairs
from pipelines.duplicates.options import DuplicateOptions, NearOptions
from pipelines.duplicates.word_hashes import as_text, hash_words
from pipelines.runtime.grouping import partition_of

NEAR = NearOptions()
OPTIONS = DuplicateOptions(near=NEAR)


def near_keys_of(texts, first=0):
    return compute_keys(pa.array(texts, pa.string()), first, OPTIONS).near


def random_words(rng, n):
    """Return n words with Zipfian frequencies, as in natural text."""
    return [letters_of(rank) for rank in rng.zipf(1.3, n).clip(max=50_000)]


def clusters_by(texts):
    """Return the kept document of each document."""
    keys = compute_keys(pa.array(texts), 0, OPTIONS)
    decisions = decide_documents(find_copies(keys.documents), find_near_pairs(keys.near, NEAR))
    kept = dict(zip(decisions["document"].to_pylist(), decisions["kept"].to_pylist(), strict=True))
    return [kept.get(document, document) for document in range(len(texts))]


@pytest.mark.parametrize("kind", ["words", "chinese"])
def test_planted_copies_are_found_and_different_texts_are_kept(kind):
    rng = np.random.default_rng(5)
    texts, pairs = [], []
    for similarity in rng.uniform(0.2, 1, 1500):
        words = random_words(rng, int(rng.integers(60, 400)))
        copy = edit_words(words, similarity, rng)
        if kind == "chinese":
            words, copy = ([chr(0x4E00 + int(sha1(w.encode()).hexdigest(), 16) % 20_000) for w in text]
                           for text in (words, copy.split()))  # fmt: skip
        texts += [(" " * (kind == "words")).join(words), copy if isinstance(copy, str) else "".join(copy)]
        pairs.append(jaccard(*texts[-2:]))
    kept = clusters_by(texts)
    found = np.array([kept[2 * i] == kept[2 * i + 1] for i in range(len(pairs))])
    similarities = np.array(pairs)
    assert (similarities >= 0.8).sum() > 250
    assert (similarities < 0.5).sum() > 400
    assert found[similarities >= 0.8].mean() >= 0.97
    assert found[similarities < 0.5].mean() <= 0.005
    assert found[(similarities > 0.78) & (similarities < 0.82)].mean() >= 0.9


def test_estimates_of_sketches_are_unbiased():
    rng = np.random.default_rng(6)
    differing, similarities = [], []
    for similarity in rng.uniform(0.1, 1, 300):
        words = random_words(rng, 200)
        pair = [" ".join(words), edit_words(words, similarity, rng)]
        (hashed,) = hash_words(as_text(pa.array(pair)), fold_numbers=True)
        sketches = make_sketches(compute_signatures(hashed, 5)[1])
        low_and_high = [[f"{int(word):064b}" for word in sketch] for sketch in sketches]
        values = [list(zip("".join(words[:2]), "".join(words[2:]), strict=True)) for words in low_and_high]
        differing.append(np.mean([a != b for a, b in zip(*values, strict=True)]))
        similarities.append(jaccard(*pair))
    errors = 1 - np.array(differing) / 0.75 - np.array(similarities)
    assert abs(errors.mean()) < 0.01
    assert errors.std() < 0.055


@given(st.lists(st.sampled_from("abcdefgh"), max_size=40), st.integers(1, 6))
def test_signatures_are_those_of_datasketch(words, size):
    (hashed,) = hash_words(as_text(pa.array([" ".join(words)])), fold_numbers=True)
    rows, signatures = compute_signatures(hashed, size)
    assert len(rows) == (len(words) >= size)
    if len(words) >= size:
        expected = MinHash(128, seed=1, hashfunc=int, scheme="affine32")
        for shingle in set(hash_shingles(hashed.words, size).tolist()):
            expected.update(shingle)
        assert (signatures[0] == expected.hashvalues).all()


def test_long_documents_have_the_signature_of_all_shingles():
    words = random_words(np.random.default_rng(12), 5000)
    (hashed,) = hash_words(as_text(pa.array([" ".join(words)])), fold_numbers=True)
    expected = MinHash(128, seed=1, hashfunc=int, scheme="affine32")
    expected.update_batch(hash_shingles(hashed.words, 5).tolist())
    assert (compute_signatures(hashed, 5)[1] == expected.hashvalues).all()


@given(st.lists(st.sampled_from("abc"), max_size=30), st.integers(1, 6))
def test_shingles_are_those_of_the_reference(words, size):
    (hashed,) = hash_words(as_text(pa.array([" ".join(words)])), fold_numbers=True)
    assert len(set(hash_shingles(hashed.words, size).tolist())) == len(shingles_of(" ".join(words), size))


def test_signatures_of_a_batch_are_those_of_single_documents():
    texts = ["a b c d e f g", "", "a b", "x y z a b c", "1 2 3 4 5 6", "only four words here", "q " * 3000]
    together = near_keys_of(texts, first=document_id(7))
    alone = [near_keys_of([text], first=document_id(7, row)) for row, text in enumerate(texts)]
    assert together.to_pylist() == pa.concat_tables(alone).to_pylist()
    assert set(together["document"].to_pylist()) == {document_id(7, row) for row in (0, 3, 4, 6)}


@given(st.integers(1, 16), st.integers(1, 8))
def test_documents_share_a_key_if_and_only_if_they_share_a_band(bands, rows):
    signatures = np.random.default_rng(rows).integers(0, 2, (20, 128), dtype=np.uint32)
    keys = band_keys(signatures, bands, rows)
    by_key = group_by([int(key) for key in keys.ravel()])
    by_band = group_by(
        [(band, *signatures[i, band * rows : (band + 1) * rows].tolist()) for i in range(20) for band in range(bands)]
    )
    assert list(by_key.values()) == list(by_band.values())


def test_numbers_do_not_distinguish_near_duplicates():
    text = "On day {} of the month, {} people visited the garden of the museum, and {} of them came by train."
    assert clusters_by([text.format(1, 20, 300), text.format(22, 3, 4)]) in ([0, 0], [1, 1])


@pytest.mark.parametrize("text", ["", "word", "four words are few", "!", "中文", "قلب"])
def test_short_texts_have_no_near_keys(text):
    assert near_keys_of([text, text]).num_rows == 0
    assert near_keys_of(["five words are just enough", "他们在北京", "قال الرجل إن البيت كبير"]).num_rows == 48


def test_arabic_copies_without_diacritics_are_found():
    plain = "ذهب الولد إلى المدرسة في الصباح ثم عاد إلى البيت بعد الظهر وقرأ كتابا عن تاريخ المدينة القديمة"
    marked = plain.replace("ذهب", "ذَهَبَ").replace("البيت", "البَيْتِ")
    assert len(set(clusters_by([plain, marked + " اليوم"]))) == 1


def similar_texts(rng, number, similarity):
    words = random_words(rng, 120)
    return [edit_words(words, similarity, rng) for _ in range(number)]


def test_pairs_do_not_depend_on_the_order_of_rows_and_partitions():
    rng = np.random.default_rng(7)
    keys = near_keys_of([text for _ in range(20) for text in similar_texts(rng, 6, 0.85)])
    expected = find_near_pairs(keys, NEAR)
    assert expected.num_rows > 40
    for seed, partitions in enumerate([1, 2, 5, 64]):
        shuffled = shuffle_rows(keys, seed)
        number = partition_of(shuffled["key"].to_numpy(), partitions)
        parts = [find_near_pairs(shuffled.filter(pa.array(number == part)), NEAR) for part in range(partitions)]
        found = {tuple(row.values()) for part in parts for row in part.to_pylist()}
        assert found == {tuple(row.values()) for row in expected.to_pylist()}


def test_kept_texts_do_not_depend_on_files():
    rng = np.random.default_rng(8)
    texts = [text for _ in range(30) for text in similar_texts(rng, 4, 0.85)]
    kept = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(texts))
        tables = [
            compute_keys(pa.array([texts[i] for i in part]), document_id(file), OPTIONS)
            for file, part in enumerate(np.array_split(order, seed + 1))
        ]
        copies = find_copies(pa.concat_tables([keys.documents for keys in tables]))
        dropped = decide_documents(copies, find_near_pairs(pa.concat_tables([keys.near for keys in tables]), NEAR))
        parts = np.array_split(order, seed + 1)
        places = [texts[parts[document >> 32][document & 0xFFFFFFFF]] for document in dropped["document"].to_pylist()]
        kept.append(set(texts) - set(places))
    assert kept[0] == kept[1] == kept[2]
    assert 30 <= len(kept[0]) < 90


def test_published_documents_come_first():
    rng = np.random.default_rng(9)
    texts = [text for _ in range(20) for text in similar_texts(rng, 3, 0.95)]
    # The first text of each three is published.
    ids = np.array([i // 3 if i % 3 == 0 else 100 + i for i in range(60)], np.uint64)
    tables = [compute_keys(pa.array([text]), int(i), OPTIONS) for text, i in zip(texts, ids, strict=True)]
    pairs = find_near_pairs(pa.concat_tables([keys.near for keys in tables]), NEAR, first_new=20)
    assert min(pairs["document"].to_pylist()) >= 20
    decisions = decide_documents(find_copies(tables[0].documents), pairs, first_new=20)
    assert min(decisions["document"].to_pylist()) >= 20
    kept = dict(zip(decisions["document"].to_pylist(), decisions["kept"].to_pylist(), strict=True))
    assert len(kept) >= 39
    assert all(original == (copy - 100) // 3 for copy, original in kept.items())


def test_a_large_group_is_compared_with_its_first_documents():
    rng = np.random.default_rng(10)
    number = MAX_COMPARED * 3
    sketches = rng.integers(0, 2**64, (number, 4), dtype=np.uint64)
    sketches[-1] = sketches[0]  # compared
    sketches[-2] = sketches[MAX_COMPARED]  # not compared
    table = pa.table(
        [
            np.zeros(number, np.uint64),
            np.arange(number, dtype=np.uint64),
            np.arange(number, dtype=np.uint64),
            *sketches.T,
        ],
        schema=near_keys_of([]).schema,
    )
    assert find_near_pairs(shuffle_rows(table, 1), NEAR).to_pylist() == [
        {"document": number - 1, "priority": number - 1, "kept": 0, "kept_priority": 0}
    ]


def test_second_search_among_the_kept_finds_nothing():
    rng = np.random.default_rng(11)
    texts = [text for _ in range(20) for text in similar_texts(rng, 5, 0.85)]
    kept = [text for i, text in enumerate(texts) if clusters_by(texts)[i] == i]
    assert 20 <= len(kept) < 80
    assert clusters_by(kept) == list(range(len(kept)))


def test_stored_keys_stay_valid():
    """If this fails, increase `KEYS_VERSION`, because keys stored by earlier versions cannot be compared any more."""
    text = "The Quick brown fox, aged 12, jumps over the lazy dog. 他们在 قلب Crème"
    keys = compute_keys(pa.array([text]), 5, OPTIONS)
    digest = sha1(repr([keys.documents.to_pylist(), keys.near.to_pylist()]).encode()).hexdigest()
    assert (fingerprint()["keys_version"], digest) == (1, "2b297bd5d77e15fcc4fc209f691cb4cab5ebd1e2")


def test_bands_find_pairs_at_the_threshold():
    for threshold in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99):
        options = NearOptions(threshold=threshold)
        assert options.bands * options.rows <= 128
        assert 0.99 <= 1 - (1 - threshold**options.rows) ** options.bands
        assert 1 - (1 - threshold**options.rows) ** (options.bands - 1) < 0.99
        assert 1 - (1 - threshold ** (options.rows + 1)) ** (128 // (options.rows + 1)) < 0.99
        estimate = 1 - options.max_distance / 96
        assert threshold - 0.12 < estimate < threshold
    assert (NEAR.bands, NEAR.rows, NEAR.max_distance) == (16, 6, 27)
