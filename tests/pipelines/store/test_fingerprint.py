"""Fingerprint of counts: it contains all values that determine counts, and a difference raises."""

import gzip
import json
import uuid
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
from spacy.lang.en import English
from tokenizers import Tokenizer, models

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.count.count_stage import CountStage, plan_tasks
from pipelines.ingest.content_hash import hash_sources
from pipelines.ingest.sources import list_sources
from pipelines.options import BuildOptions
from pipelines.runtime.in_process import InProcessRuntime
from pipelines.store.fingerprint import (
    COUNTING_FIELDS,
    COUNTS_VERSION,
    READERS,
    check_same,
    fingerprint,
    keep_readers,
)
from pipelines.store.layout import LEDGER
from pipelines.store.segments import total_digest

TEXTS = [
    "The U.S. doesn't know Mr. O'Neill's well-known café (at 10km/h), e.g. on the Straße.",
    "  naïve   coöperation\u2014\u201cquoted\u201d\u00a0text; see http://example.org/a?b=c#d or mail me@example.org!  ",
    "قلب وكلمة 日本語のテキスト 😀👍🏽 :-) $9.99 3,000.5% 'tis I'll we've C++ AT&T ...",
    "tabs\tand\r\nlines\nin a document\u2028and \ufeffmarks\u200b inside",
    "İstanbul ﬁne ΣΊΣΥΦΟΣ Ünïcödé 𝒳yz <oov> the the The THE",
]


def write_corpus(folder: Path) -> Path:
    """Write the same few texts in every format, and documents that are long enough to be split."""
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"\xef\xbb\xbf" + "\n".join(TEXTS).encode() + b"\ncaf\xe9 \xff\n\n")
    lines = "".join(json.dumps({"text": text, "id": i}) + "\n" for i, text in enumerate([*TEXTS, "", "  "]))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    pq.write_table(pa.table({"text": [*TEXTS, None]}), folder / "c.parquet")
    bodies = [text.encode() for text in TEXTS]
    headers = [f"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {len(body)}\r\n\r\n".encode() for body in bodies]
    records = [header + body + b"\r\n\r\n" for header, body in zip(headers, bodies, strict=True)]
    (folder / "d.warc.wet.gz").write_bytes(b"".join(map(gzip.compress, records)))
    # Longer than a document chunk (2²⁰ characters) and a passage (2,000 tokens), without line breaks.
    long = [" ".join(f"{word}{i % 97}" for i in range(60_000)) for word in ("long", "It's ", "x. Y-")]
    (folder / "e.jsonl").write_text(json.dumps({"text": " ".join(long)}))
    # Of another encoding, with a bad line that is too few to fail.
    cyrillic = "Мама мыла раму, а папа читал старую газету у окна.".encode("cp1251")
    lines = b"".join(b'{"text": "' + cyrillic + b" %d" % i + b'"}\n' for i in range(200))
    (folder / "f.jsonl").write_bytes(lines + b"{\n")
    return folder


def counts_digest(folder: Path, options: BuildOptions) -> str:
    """Return the digest of all counts of a corpus."""
    build = f"memory://{uuid.uuid4().hex}"
    stage = CountStage(
        build,
        storage.join(build, LEDGER),
        options,
    )
    sources = hash_sources(list_sources([str(folder)]), [], InProcessRuntime())
    tasks = plan_tasks(sources, options.shard_mib << 20)
    digest = total_digest(counted.shard for task in tasks for counted in stage(task))
    storage.remove(build)
    return digest


# Digests since COUNTS_VERSION 2. Those of spaCy are for the rules of spaCy 3.8.
GOLDEN = {
    "whitespace": (BuildOptions(tokenizer="whitespace"), "07af9a0da0304a63911d56dfc458c0f8"),
    "as it is": (BuildOptions(tokenizer="whitespace", normalization="none"), "f21ece787ede2eb370b04043f77279e0"),
    "whitespace, summed": (
        BuildOptions(mode="sum", window=12, tokenizer="whitespace", lowercase=False, normalization="none", summed=True),
        "268dae020d20aa28a1d60fdfbcaa2350",
    ),
    "spacy": (BuildOptions(), "2d04308db45a9a5a445f555429d0be19"),
    "spacy, as it is": (BuildOptions(normalization="none"), "177364f893087eaa23f23eb85cea7701"),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("golden") / "corpus")


@pytest.mark.parametrize("name", GOLDEN)
def test_counts_of_a_fixed_text_do_not_change(corpus, name):
    options, digest = GOLDEN[name]
    assert (COUNTS_VERSION, counts_digest(corpus, options)) == (2, digest), (
        "The counts of the same text have changed, so new counts must not be added to old ones: increase "
        "COUNTS_VERSION in pipelines/store/fingerprint.py, and update the digests here. If only the rules of a new "
        "spaCy version differ, update only the digest of spacy: fingerprints already contain the rules of spaCy."
    )


def test_digest_depends_on_every_file(corpus, tmp_path):
    options, digest = GOLDEN["whitespace"]
    for name in ("a.txt", "b.jsonl.gz", "c.parquet", "d.warc.wet.gz", "e.jsonl", "f.jsonl"):
        folder = write_corpus(tmp_path / name)
        (folder / name).unlink()
        assert counts_digest(folder, options) != digest


@pytest.mark.parametrize(
    "other",
    [
        {"tokenizer": "whitespace"},
        {"lowercase": False},
        {"field": "body"},
        {"document": "file"},
        {"encoding": "cp1252"},
        {"max_record_mib": 1},
        {"format": "text"},
        {"window": 5},
        {"mode": "sum", "summed": True},
    ],
    ids=str,
)
def test_options_that_change_counts_change_the_fingerprint(other):
    options = BuildOptions()
    now = fingerprint(options.derive(other))
    changed = {*COUNTING_FIELDS} & set(other) - {"window"} or {"window"}
    with pytest.raises(BitcipherError, match=f"{min(changed)} .* → "):
        check_same(fingerprint(options), now, "The build", "build again")


def test_builds_from_before_normalization_have_the_fingerprint_of_text_as_it_is():
    now, before = fingerprint(BuildOptions()), fingerprint(BuildOptions(normalization="none"))
    assert "normalization" not in before
    with pytest.raises(BitcipherError, match="normalization 'NFC' → None"):
        check_same(now, before, "The build", "build again")


def test_other_options_do_not_change_the_fingerprint():
    embedding = {"mode": "sum", "bits": 50, "noise": "none", "log": "counts", "min_count": 2, "max_vocab_size": 9}
    other = BuildOptions(**embedding, shard_mib=3, memory_mib=700, max_bad_share=0.5)
    assert fingerprint(other) == fingerprint(BuildOptions())


def test_fingerprint_has_the_rules_of_spacy_and_not_its_version(monkeypatch):
    before = fingerprint(BuildOptions())
    assert before["counts_version"] == COUNTS_VERSION
    assert "spacy_rules" not in fingerprint(BuildOptions(tokenizer="whitespace"))
    monkeypatch.setattr(spacy, "__version__", "99.0")
    assert fingerprint(BuildOptions()) == before
    monkeypatch.setattr(English.Defaults, "suffixes", [*English.Defaults.suffixes, "xyz"])
    with pytest.raises(BitcipherError, match="spacy_rules"):
        check_same(before, fingerprint(BuildOptions()), "The build", "build again")


def test_other_readers_are_no_reason_to_refuse_counts():
    now = fingerprint(BuildOptions())
    for old in ({READERS: 1}, {}):
        earlier = {name: value for name, value in now.items() if name != READERS} | old
        check_same(earlier, now, "The build", "build again")
        assert keep_readers(earlier, now) == earlier


def test_fingerprint_with_the_version_of_spacy_is_compared_with_the_installed_one():
    now = fingerprint(BuildOptions())
    old = {name: value for name, value in now.items() if name != "spacy_rules"}
    check_same(old | {"spacy": version("spacy")}, now, "The build", "build again")
    with pytest.raises(BitcipherError, match=r"spacy '1\.0' → "):
        check_same(old | {"spacy": "1.0"}, now, "The build", "build again")


def test_fingerprint_has_the_tokenizer_and_what_it_does(tmp_path):
    file = tmp_path / "tokenizer.json"
    found = []
    for words in ({"a": 0}, {"b": 0}):
        Tokenizer(models.WordLevel({**words, "?": 1}, unk_token="?")).save(str(file))
        found.append(fingerprint(BuildOptions(tokenizer=str(file))))
    assert "tokenizer_output" in found[0]
    with pytest.raises(BitcipherError, match="tokenizer 'sha256:"):
        check_same(*found, "The build", "build again")
    file.rename(tmp_path / "renamed.json")
    assert fingerprint(BuildOptions(tokenizer=str(tmp_path / "renamed.json"))) == found[1]


def test_error_names_all_differing_fields():
    with pytest.raises(BitcipherError) as raised:
        check_same({"a": 1, "b": 2, "gone": 3}, {"a": 1, "b": 4, "new": 5}, "The build in x", "build again")
    assert str(raised.value) == (
        "The build in x was made with other options (b 2 → 4, gone 3 → None, new None → 5): build again."
    )
    check_same({"a": 1}, {"a": 1}, "The build", "")
