"""Vector files and lists that other tools wrote: each is read as it was written, or refused with a sentence."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from document_shards import texts_in

from bitcipher import BitcipherError, CipherVectors

CASES = Path(__file__).parents[1] / "cases"

ABC = {"the": [0.1, 0.2, 0.3], "cat": [0.4, 0.5, 0.6], "dog": [0.7, 0.8, 0.9], "sat": [-1, 2, 3e-5]}
PHRASES = {"new york": [0.1, 0.2, 0.3], "los angeles": [0.4, 0.5, 0.6], "bread": [1, 2, 3], "hot dog": [1, 2, 4]}
YEARS = {"olympics 2008": [0.1, 0.2, 0.3], "olympics 2012": [0.4, 0.5, 0.6], "euro 2016": [1, 2, 3]}


class Case(NamedTuple):
    """An input, what is done with it, and what is right."""

    input: str
    action: str
    expected: Any


TABLE = [
    Case("vectors/commas.vec", "load", "Line 2 of .* has commas in its values"),
    Case("vectors/commas20.vec", "load", "Line 2 of .* has commas in its values"),
    Case("vectors/years.vec", "load", {**YEARS, "euro 2020": [1, 2, 4]}),
    Case("vectors/phrases.vec", "load", {**PHRASES, "ice cream": [1, 3, 3]}),
    Case("vectors/dblspace.vec", "load", {"cat": [0.1, 0.2, 0.3], "dog": [0.4, 0.5, 0.6], "fox": [1, 2, 3]}),
    Case("vectors/tabword_glove.txt", "load", {"the": [0.1, 0.2, 0.3], "cat": [0.4, 0.5, 0.6]}),
    Case("vectors/c_bom.vec", "load", ABC),
    Case("vectors/c2_bom_glove.txt", "load", ABC),
    Case("vectors/zz_utf16.vec", "load", {"café": [1, 2, 3], "b": [1, 2, 4]}),
    Case("vectors/commas.vec", "neighbors the", "commas in its values"),
    Case("vectors/years.vec", "neighbors 'olympics 2008'", ["olympics 2012", "euro 2016", "euro 2020"]),
    Case("vectors/phrases.vec", "neighbors bread", ["hot dog", "ice cream", "los angeles", "new york"]),
    Case("vectors/dblspace.vec", "neighbors cat", ["dog", "fox"]),
    Case("vectors/wordlist_bom.txt", "build --word-list", ["cat", "dog", "the"]),
    Case("lists/bom.paths", "shard", 2),
    Case("lists/blocked-utf16.txt", "shard with blocklist", 14),
]


def load(case: Case, run_command, out: Path) -> None:
    if isinstance(case.expected, str):
        with pytest.raises(BitcipherError, match=case.expected):
            CipherVectors.load(CASES / case.input)
        return
    vectors = CipherVectors.load(CASES / case.input)
    assert vectors.index_to_key == list(case.expected)
    np.testing.assert_array_equal(vectors.vectors, np.array(list(case.expected.values()), np.float32))


def find_neighbors(case: Case, run_command, out: Path) -> None:
    word = case.action.removeprefix("neighbors ").strip("'")
    code, output, error = run_command("neighbors", CASES / case.input, word, "--json")
    if isinstance(case.expected, str):
        assert (code, output) == (2, "")
        assert case.expected in error
        return
    assert code == 0
    (query,) = json.loads(output)["queries"]
    assert sorted(each["word"] for each in query["neighbors"]) == sorted(case.expected)


def build(case: Case, run_command, out: Path) -> None:
    options = ("--mode", "cat", "--bits", 4, "--workers", 0)
    code, _, error = run_command(
        "build", CASES / "vectors/corpus.txt", "--word-list", CASES / case.input, "--out", out, *options
    )
    assert code == 0, error
    counts = CipherVectors.load(out)
    assert all(counts.get_vecattr(word, "count") > 0 for word in case.expected)


def shard(case: Case, run_command, out: Path) -> None:
    recipe = out.with_name("recipe.yaml")
    if case.action == "shard":
        arguments = [CASES / case.input]
    else:
        recipe.write_text(json.dumps({"rules": [{"rule": "blocklist", "path": str(CASES / case.input)}]}))
        arguments = [CASES / "metadata/flat.jsonl", "--recipe", recipe]
    code, _, error = run_command("shard", *arguments, "--out", out, "--workers", 0)
    assert code == 0, error
    assert len(texts_in(out)) == case.expected


ACTIONS = {"load": load, "neighbors": find_neighbors, "build": build, "shard": shard}


@pytest.mark.filterwarnings("ignore:Every line of .*years.vec ends in 4 numbers")
@pytest.mark.parametrize("case", TABLE, ids=lambda case: f"{case.input} {case.action}")
def test_case_gives_what_is_right(case, run_command, tmp_path):
    ACTIONS[case.action.split()[0]](case, run_command, tmp_path / "out")
