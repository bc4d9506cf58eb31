import labeled
import numpy as np
import pytest

from bitcipher.errors import BitcipherError
from bitcipher.vectors.cipher_vectors import CipherVectors
from training.evaluation.probes.data import make_task
from training.evaluation.probes.probe_scores import look_up, probe
from training.studies.bit_cipher.paper_tables import paper_tables


@pytest.fixture(scope="module")
def ner():
    parts = [labeled.sentences(labeled.KINDS, seed, 200) for seed in range(3)]
    return make_task("ner", *parts, has_spans=True)


def test_informative_vectors_score_higher_than_uninformative_ones(ner):
    informed = probe(labeled.informative_vectors(labeled.KINDS), ner, seeds=(0, 1))
    uninformed = probe(labeled.uninformative_vectors(), ner, seeds=(0, 1))
    for metric in ("accuracy", "weighted_f1", "span_f1"):
        assert informed.mean(metric) > uninformed.mean(metric) + 0.2
    # Without information, a probe predicts the most frequent label.
    most_frequent = np.bincount(ner.train.labels).argmax()
    assert uninformed.mean("accuracy") == pytest.approx(np.mean(ner.test.labels == most_frequent))
    assert (informed.task, informed.covered_words, informed.covered_tokens) == ("ner", 1, 1)


def test_mean_and_spread_over_seeds(ner):
    result = probe(labeled.informative_vectors(labeled.KINDS), ner, seeds=(0, 1, 2))
    accuracies = [seed.accuracy for seed in result.seeds]
    assert [seed.seed for seed in result.seeds] == [0, 1, 2]
    assert result.mean("accuracy") == pytest.approx(np.mean(accuracies))
    assert result.spread("accuracy") == pytest.approx(np.std(accuracies, ddof=1))
    assert result == probe(labeled.informative_vectors(labeled.KINDS), ner, seeds=(0, 1, 2))
    assert result.copy_with(seeds=result.seeds[:1]).spread("accuracy") == 0


def test_vector_lengths_do_not_change_result(ner):
    vectors = labeled.informative_vectors(labeled.KINDS)
    # Multiplication by powers of two is exact.
    lengths = 2.0 ** np.arange(-8, len(vectors) - 8).clip(max=8)
    scaled = CipherVectors(vectors.words, lengths[:, None] * vectors.vectors)
    assert probe(vectors, ner, seeds=(0,)) == probe(scaled, ner, seeds=(0,))


def test_unknown_words_get_oov_vector_or_zeros():
    rows = np.array([[3, 4], [0, 5]], np.float32)
    features, covered = look_up(CipherVectors(["a", "<oov>"], rows), ["a", "b"])
    np.testing.assert_allclose(features, rows * np.sqrt(2) / 5)
    assert covered.tolist() == [True, False]
    assert look_up(CipherVectors(["a", "<oov>"], rows), ["a", "b"], oov=True)[0].tobytes() == features.tobytes()
    without = CipherVectors(["a", "z"], rows)
    features, _ = look_up(without, ["a", "b"])
    np.testing.assert_allclose(features, [rows[0] * np.sqrt(2) / 5, [0, 0]])
    with pytest.raises(BitcipherError, match="has no <oov>"):
        look_up(without, ["a", "b"], oov=True)


def test_coverage_is_of_test_split():
    part = [[("a", "X"), ("a", "X"), ("b", "Y")]]
    task = make_task("pos", [[("c", "X")]], [[("c", "X")]], part, has_spans=False)
    result = probe(CipherVectors(["a", "d"], np.eye(2)), task, seeds=(0,))
    assert result.covered_words == 0.5
    assert result.covered_tokens == pytest.approx(2 / 3)
    assert result.seeds[0].span_f1 is None
    with pytest.raises(BitcipherError, match="None of the 2 words of the task pos has a vector"):
        probe(CipherVectors(["d"], np.eye(1)), task, seeds=(0,))
    with pytest.raises(BitcipherError, match="`seeds` must be a list with a length of at least 1"):
        probe(CipherVectors(["a"], np.eye(1)), task, seeds=())


def test_paper_tables_are_complete():
    grids = paper_tables().grids
    assert [(g.table, g.task, g.mode) for g in grids] == [
        (2, "pos", "sum"),
        (3, "ner", "sum"),
        (4, "ner", "cat"),
        (5, "pos", "cat"),
        (6, "pos", "cipher"),
        (7, "ner", "cipher"),
    ]
    assert sum(len(cells) for grid in grids for cells in grid.rows.values()) == 2 * 100
    for grid in grids:
        assert list(grid.rows) == [0.5, 1, 2, 4, 8]
        assert {len(cells) for cells in grid.rows.values()} == {len(grid.columns)}
        assert all(60 < number < 95 for cells in grid.rows.values() for cell in cells for number in cell)
    # Table 1 repeats cells of the grids.
    by_table = {grid.table: grid for grid in grids}
    models = paper_tables().models
    assert models["Cipher (Cat)"] == {"pos": by_table[5].rows[8][0], "ner": by_table[4].rows[8][0]}
    assert models["Cipher (Sum)"] == {"pos": by_table[2].rows[8][-1], "ner": by_table[3].rows[8][-1]}
    assert models["Cipher"] == {"pos": by_table[6].rows[8][-1], "ner": by_table[7].rows[8][-1]}
