"""Filtering of a corpus: exact counts, the same bytes for any number of workers, and disjoint parts."""

import gzip
import json
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from pipelines.clean.word_filter import extract_corpus_words, read_words
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.open_runtime import open_runtime
from pipelines.runtime.progress import StageProgress
from pipelines.store.lease import Lease
from training.studies.downscaling.filter.document_splits import PARTS
from training.studies.downscaling.filter.filter_corpus import filter_corpus
from training.studies.downscaling.filter.options import FilterOptions

KNOWN = ["the", "cat", "saw", "a", "dog", "and", "ran", "قال", "القط"]
OPTIONS = FilterOptions(span=12, stride=4, held_out_share=0.3)


def write_corpus(folder: Path) -> Path:
    """Write four files of documents, one of them empty; every sentence of a document contains its number."""
    random = np.random.default_rng(6)
    folder.mkdir()
    number = 0
    for name in ("books/a.jsonl.gz", "books/b.jsonl.gz", "news/c.jsonl.gz", "news/d.jsonl.gz"):
        lines = []
        for _ in range(40):
            number += 1
            sentences = []
            for _ in range(random.integers(1, 9)):
                words = random.choice([*KNOWN, "zebra" if random.random() < 0.4 else "the"], random.integers(6, 11))
                sentences.append(" ".join([str(number), *words, str(number)]).capitalize() + ".")
            lines.append(json.dumps({"text": " ".join(sentences)}))
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    (folder / "news" / "empty.jsonl").write_bytes(b"")
    (folder.parent / "words.txt").write_text("\n".join(KNOWN))
    return folder


@pytest.fixture
def corpus(tmp_path):
    return write_corpus(tmp_path / "corpus")


def run_filter(patterns, out, options=OPTIONS, progress=None, runtime=None, vocabulary="words.txt"):
    patterns = [str(pattern) for pattern in (patterns if isinstance(patterns, list) else [patterns])]
    words = vocabulary and str(Path(out).parent / vocabulary)
    manifest = filter_corpus(
        patterns, words, str(out), options, runtime or InProcessRuntime(), progress or StageProgress()
    )
    return manifest.to_dict()


def spans(folder, kind, part):
    return [
        json.loads(line)
        for file in sorted((folder / kind).glob(f"{part}-*.jsonl.gz"))
        for line in gzip.decompress(file.read_bytes()).decode().splitlines()
    ]


def content(folder):
    return {name: (folder / name).read_bytes() for name in storage.list_files(str(folder), unfinished=True)}


def documents_in(texts):
    return {word.strip(".") for text in texts for word in text.split() if word.strip(".").isdecimal()}


@pytest.mark.smoke
def test_kept_spans_are_in_the_vocabulary_and_counts_add_up(corpus, tmp_path):
    output = run_filter(corpus, tmp_path / "out")
    assert output == json_files.read(str(tmp_path / "out" / "accounting.json"))
    assert read_words(str(tmp_path / "out" / "vocabulary.txt")) == set(KNOWN)
    assert output["vocabulary"]["words"] == len(KNOWN)
    kept = {part: spans(tmp_path / "out", "constrained", part) for part in PARTS}
    assert all(kept.values())
    for each in chain.from_iterable(kept.values()):
        assert set(extract_corpus_words(each["text"])) <= set(KNOWN)
        assert each["level"] in ("spans", "sentences")
    total = output["total"]
    assert total["constrained"] == {part: len(texts) for part, texts in kept.items()}
    assert sum(total["documents"].values()) == 160
    for level in ("spans", "sentences"):
        counts = total[level]
        assert counts["examined"] == counts["kept"] + counts["unknown_words"] + counts["too_few_words"]
        assert counts["share_kept"] == counts["kept"] / counts["examined"]
    assert total["spans"]["kept"] + total["sentences"]["spans"] == sum(total["constrained"].values())
    assert list(total["unknown_words"]) == ["zebra"]
    assert [Path(folder).name for folder in output["folders"]] == ["books", "news"]
    for name in ("words", "constrained", "unconstrained"):
        for groups in (output["folders"].values(), output["sources"]):
            assert np.all(sum_of(group[name] for group in groups) == sum_of([total[name]]))
    assert [Path(source["uri"]).name for source in output["sources"]][-1] == "empty.jsonl"
    assert output["sources"][-1]["words"] == 0


def sum_of(values):
    return sum(np.array(list(value.values()) if isinstance(value, dict) else value) for value in values)


def test_control_sample_has_as_many_spans_per_source(corpus, tmp_path):
    output = run_filter(corpus, tmp_path / "out")
    for source in output["sources"]:
        missing = source["unconstrained"].pop("missing")
        assert missing == sum(source["constrained"].values()) - sum(source["unconstrained"].values())
        assert all(source["unconstrained"][part] <= source["constrained"][part] for part in PARTS)
        for kind in ("constrained", "unconstrained"):
            for part in PARTS:
                file = tmp_path / "out" / kind / f"{part}-{source['name']}.jsonl.gz"
                assert gzip.decompress(file.read_bytes()).count(b"\n") == source[kind][part]
    # There are fewer whole sentences than spans, so the control sample is complete.
    output = run_filter(
        corpus, tmp_path / "sentences", FilterOptions(level="sentences", span=12, stride=4, held_out_share=0.3)
    )
    assert output["total"]["unconstrained"] == output["total"]["constrained"] | {"missing": 0}
    assert "zebra" in json.dumps(spans(tmp_path / "sentences", "unconstrained", "train"))
    run_filter(corpus, tmp_path / "alone", FilterOptions(span=12, stride=4, unconstrained=False))
    assert not (tmp_path / "alone" / "unconstrained").exists()


def test_sources_have_levels_of_their_own(corpus, tmp_path):
    whole = run_filter(corpus, tmp_path / "whole")
    options = OPTIONS.copy_with(sentences_only=(str(corpus / "books"),), spans_only=(str(corpus / "news" / "c*"),))
    output = run_filter(corpus, tmp_path / "out", options)
    found = {Path(source["uri"]).name[0]: set(source) & {"spans", "sentences"} for source in output["sources"]}
    both = {"spans", "sentences"}
    assert found == {"a": {"sentences"}, "b": {"sentences"}, "c": {"spans"}, "d": both, "e": both}
    for source, same in zip(output["sources"], whole["sources"], strict=True):
        for level in both & set(source):
            assert source[level] == same[level]
    assert run_filter(corpus, tmp_path / "out", options) == output
    with pytest.raises(BitcipherError, match="sources"):  # other levels are another corpus
        run_filter(corpus, tmp_path / "out")


def test_levels_of_other_files_or_two_levels_are_refused(corpus, tmp_path):
    books, news = str(corpus / "books"), str(corpus / "news")
    with pytest.raises(BitcipherError, match=r"`spans_only` names .*c\.jsonl\.gz, which is not among the sources"):
        run_filter(books, tmp_path / "out", OPTIONS.copy_with(spans_only=(news,)))
    with pytest.raises(BitcipherError, match=r"a\.jsonl\.gz is in `spans_only` and in `sentences_only`"):
        run_filter(corpus, tmp_path / "out", OPTIONS.copy_with(spans_only=(books,), sentences_only=(books,)))
    assert not (tmp_path / "out").exists()


def test_no_document_is_in_two_parts(corpus, tmp_path):
    run_filter(corpus, tmp_path / "out")
    documents = {
        part: documents_in(
            each["text"] for kind in ("constrained", "unconstrained") for each in spans(tmp_path / "out", kind, part)
        )
        for part in PARTS
    }
    assert all(len(found) > 10 for found in documents.values())
    assert not any(documents[one] & documents[other] for one, other in combinations(PARTS, 2))


def test_order_of_patterns_does_not_change_the_bytes(corpus, tmp_path):
    run_filter(corpus, tmp_path / "one")
    run_filter([corpus / "news", corpus / "books" / "b*", corpus / "books"], tmp_path / "other")
    assert content(tmp_path / "one") == content(tmp_path / "other")


@pytest.mark.long
def test_ray_and_this_process_give_the_same_bytes(ray_cluster, corpus, tmp_path):
    by_frequency = FilterOptions(span=12, stride=4, held_out_share=0.3, top=8)
    for options, words in ((OPTIONS, "words.txt"), (by_frequency, None)):
        name = f"top-{options.top}"
        run_filter(corpus, tmp_path / f"{name}-here", options, vocabulary=words)
        for workers in (1, 2):
            with open_runtime(workers, 100 << 20) as runtime:
                run_filter(corpus, tmp_path / f"{name}-{workers}", options, runtime=runtime, vocabulary=words)
            assert content(tmp_path / f"{name}-{workers}") == content(tmp_path / f"{name}-here")


class InterruptingProgress(StageProgress):
    """Progress that raises KeyboardInterrupt after a number of sources."""

    def __init__(self, after):
        super().__init__()
        self._left = after

    def advance(self, bar, done, note):
        self._left -= "sources" in note
        if self._left < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("after", range(5))
def test_interrupted_filter_resumes_without_repeating_work(corpus, tmp_path, after):
    run_filter(corpus, tmp_path / "whole")
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run_filter(corpus, out, progress=InterruptingProgress(after))
    assert not (out / "accounting.json").exists()
    done = {file: file.stat().st_ino for file in out.rglob("*-0*.jsonl.gz")}
    assert len(done) == 2 * len(PARTS) * (after + 1)
    run_filter(corpus, out)
    assert content(out) == content(tmp_path / "whole")
    assert {file: file.stat().st_ino for file in done} == done
    before = {file: file.stat().st_ino for file in out.rglob("*") if file.is_file()}
    run_filter(corpus, out)  # running again changes nothing
    assert {file: file.stat().st_ino for file in out.rglob("*") if file.is_file()} == before


def test_filter_resumes_although_an_entry_is_incomplete(corpus, tmp_path):
    run_filter(corpus, tmp_path / "whole")
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run_filter(corpus, out, progress=InterruptingProgress(2))
    next(path for path in out.rglob("*.json") if path.stem.isdecimal()).write_bytes(b"")
    run_filter(corpus, out)
    assert content(out) == content(tmp_path / "whole")


def test_damaged_source_leaves_no_files(corpus, tmp_path):
    file = corpus / "news" / "c.jsonl.gz"
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()) + b"{"))
    with pytest.raises(BitcipherError, match=r"Line 41 of .*c\.jsonl\.gz is not JSON"):
        run_filter(corpus, tmp_path / "out")
    names = {Path(name).name for name in content(tmp_path / "out") if name.endswith(".gz")}
    assert names == {f"{part}-0000{number}.jsonl.gz" for part in PARTS for number in (0, 1)}


def test_manifest_counts_bad_records_by_source_and_folder(corpus, tmp_path):
    file = corpus / "news" / "c.jsonl.gz"
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()) + b'{\n{"text": "caf\\ufffd"}\n'))
    options = OPTIONS.copy_with(max_bad_share=0.1)
    for name, chosen, words in (("out", options, "words.txt"), ("top", options.copy_with(top=8), None)):
        output = run_filter(corpus, tmp_path / name, chosen, vocabulary=words)  # --top reads the sources twice
        total = output["total"]["records"]
        assert (total["bad"], total["replacements"]) == ({"not JSON": 1}, 1)
        assert f"Line 41 of {file} is not JSON" in total["example"]
        assert output["folders"][str(corpus / "news")]["records"] == total
        assert [sum(source["records"]["bad"].values()) for source in output["sources"]] == [0, 0, 1, 0, 0]


def test_other_options_in_the_same_folder_raise(corpus, tmp_path):
    run_filter(corpus, tmp_path / "out")
    before = content(tmp_path / "out")
    for options in (
        FilterOptions(span=13, stride=4, held_out_share=0.3),
        FilterOptions(level="spans", span=12, stride=4, held_out_share=0.3),
    ):
        with pytest.raises(
            BitcipherError, match=r"was made with other options \((span 12 → 13|level 'both' → 'spans')\)"
        ):
            run_filter(corpus, tmp_path / "out", options)
    with pytest.raises(BitcipherError, match="sources"):
        run_filter(corpus / "books", tmp_path / "out")
    (tmp_path / "words.txt").write_text("the\n")
    with pytest.raises(BitcipherError, match="vocabulary"):
        run_filter(corpus, tmp_path / "out")
    assert content(tmp_path / "out") == before
    with pytest.raises(BitcipherError, match=r"is inside of .* which is read"):
        run_filter(corpus, corpus)
    with pytest.raises(BitcipherError, match="is not empty"):
        run_filter(corpus / "books", corpus)


def test_filter_that_keeps_no_span_raises_and_leaves_no_files(corpus, tmp_path):
    (tmp_path / "words.txt").write_text("zebra\n")
    with pytest.raises(BitcipherError, match=r"unknown words are the, "):
        run_filter(corpus, tmp_path / "out")
    assert content(tmp_path / "out") == {}


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"level": "words"}, "`level` must be spans, sentences or both"),
        ({"span": 0}, "`span` must be at least 1"),
        ({"stride": 111}, "`stride` must be at most the span of 110"),
        ({"held_out_share": 0.5}, "`held_out_share` must be less than 0.5"),
        ({"held_out_share": float("nan")}, "`held_out_share`"),
        ({"top": 0}, "`top` must be at least 1"),
    ],
)
def test_invalid_filter_options_raise(options, fact):
    with pytest.raises(BitcipherError, match=fact):
        FilterOptions(**options)


def test_second_filter_of_a_folder_is_refused(corpus, tmp_path):
    out = tmp_path / "out"
    with Lease(str(out)), pytest.raises(BitcipherError, match="Another job is running"):
        run_filter(corpus, out)
    run_filter(corpus, out)
    assert not (out / "lease").exists()


def test_damaged_request_starts_again(corpus, tmp_path):
    run_filter(corpus, tmp_path / "whole")
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run_filter(corpus, out, progress=InterruptingProgress(2))
    (out / "ledger/filter-job/current.json").write_bytes(b"")
    run_filter(corpus, out)
    assert content(out) == content(tmp_path / "whole")
