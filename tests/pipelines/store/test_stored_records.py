"""Stored records with random mutations: each is read back equal, or raises an error that names its file."""

import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutated_records import assert_mutation_is_read_or_refused

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage
from bitcipher.files.table_reference import TableReference
from bitcipher.version_manifest import VectorsReference
from bitcipher.versions import manifest_uri
from pipelines.builds.report import BuildReport
from pipelines.ingest.record_counts import RecordCounts
from pipelines.ingest.sources import Source
from pipelines.options import BuildOptions
from pipelines.runtime.costs import StageCost
from pipelines.store.build_folder import CountPlan, MergedPart
from pipelines.store.fingerprint import fingerprint
from pipelines.store.job_folder import JobEntry
from pipelines.store.lease import LeaseHolder
from pipelines.store.manifest import (
    BasisState,
    BuildManifest,
    CountedTask,
    Drift,
    RankMoves,
    VectorMoves,
    VectorSizes,
    VersionDigests,
    VersionTables,
    read_manifest,
)
from pipelines.store.segments import Segment
from training.studies.downscaling.filter.filter_manifest import FilterManifest

OPTIONS = BuildOptions(tokenizer="whitespace")
TIME = "2026-01-31T12:00:00+00:00"
SIZES = dict.fromkeys(("documents", "total_passages", "text_bytes", "tokens", "types", "entries"), 3)
SEGMENT = Segment(
    name="a-00000",
    parts=("shards/a",),
    part_hashes=("0" * 64,),
    shards=("a-00000",),
    digest="0123456789abcdef" * 2,
    **SIZES,
)
TABLE = TableReference(rows=3, sha256="0" * 64)
RECORD_COUNTS = RecordCounts(bad={"not JSON": 1}, skipped={"status 404": 2}, replacements=3, example="Line 1 is bad.")
MANIFEST = BuildManifest(
    version=2,
    folder="versions/000002-ab",
    vectors_from=VectorsReference(version=2, folder="versions/000002-ab/vectors"),
    bitcipher="1.0",
    options=OPTIONS,
    fingerprint=fingerprint(OPTIONS),
    aligned=None,
    documents=3,
    text_bytes=3,
    tokens=3,
    vocabulary=2,
    oov_tokens=1,
    records=RECORD_COUNTS,
    tables=VersionTables(**dict.fromkeys(("sources", "tasks", "shards", "segments"), TABLE)),
    digests=VersionDigests(words="w", counts="c", vectors="v"),
    vectors=VectorSizes(words=2, dimensions=5, empty_words=0),
    basis=BasisState(version=1, residual=0.02),
    drift=Drift(
        words_in=1,
        words_out=0,
        added=("new",),
        removed=(),
        rank_moves=RankMoves(words=1, median=0.5, percentile_99=1.0),
        neighbors=0.75,
        sample=1,
        vector_moves=VectorMoves(median=0.99, percentile_1=0.9, furthest={"new": 0.8}),
    ),
    drift_from=1,
)
PARTS = {"train": 1, "development": 0, "test": 0}
COUNTS = {"documents": PARTS, "words": 9, "constrained": PARTS, "unconstrained": {**PARTS, "missing": 1}}
COUNTS["records"] = RECORD_COUNTS.to_dict()
FILTERED = FilterManifest.parse(
    {
        "options": {"span": 110, "level": "both", "held_out_share": 0.01, "top": None},
        "vocabulary": {"words": 3, "sha256": "ab"},
        "total": {**COUNTS, "unknown_words": {"zebra": 2}},
        "folders": {"/corpus": {**COUNTS, "unknown_words": {}}},
        "sources": [{**COUNTS, "unknown_words": {}, "name": "00000", "uri": "/corpus/a.txt", "sha256": "ab"}],
    },
    "test",
)
RECORDS = [
    MANIFEST,
    FILTERED,
    SEGMENT,
    Source(uri="/corpus/a.txt", size=3, format="text", stamp="1.5", sha256="ab"),
    CountedTask(id="a", sources=("ab",), shards=("a-00000",), records={"ab": RECORD_COUNTS}),
    JobEntry(id="ab", version=1, fingerprint=fingerprint(OPTIONS), started=TIME),
    CountPlan(tasks=("a", "b"), text_bytes=9),
    MergedPart(part="segments/a-0", sha256="0" * 64, entries=9, digest="0" * 32),
    LeaseHolder(owner="o", host="h", machine="m", pid=1, started=TIME, beat=0, time=TIME, released=False),
    BuildReport(started=TIME, seconds=1.5, workers=0, stages={"count": StageCost(seconds=1.0)}, tokens=3),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_mutated_records_are_read_back_or_raise_with_the_file_name(record, data):
    assert_mutation_is_read_or_refused(record, data)


def test_manifest_of_another_format_raises_with_the_format():
    build = f"memory://{uuid.uuid4().hex}"
    uri = manifest_uri(build, 2)
    json_files.write(uri, MANIFEST.to_dict())
    assert read_manifest(build) == MANIFEST
    json_files.write(uri, MANIFEST.to_dict() | {"format": "bitcipher-build/1"})
    with pytest.raises(BitcipherError, match=r"versions/000002\.json: the format is 'bitcipher-build/1'"):
        read_manifest(build)
    storage.remove(build)
