"""Layout of a build directory.

    versions/000002.json            manifest of version 2; creating it publishes the version
    versions/000002-1f3a9c04/       files of the version, under a unique name:
        words.parquet               vocabulary in order of rank
        sources.parquet             sources of the version (see `version_tables`)
        tasks.parquet               count tasks, with their bad records
        shards.parquet              counts of each shard
        segments.parquet            segments whose sum is the counts
        vectors/                    vectors with the options of the build; not with `--vectors later`
        report.json                 cost of each stage; the only file that differs between equal builds
    shards/                         words and pairs of each shard, independent of any vocabulary
    segments/                       merged shards, in the same format
    ledger/                         finished work of an unfinished job
    lease/                          lease of the running job
    work/                           temporary files

A version that was published with `--vectors later` has no vectors of its own. Its manifest refers to the folder of the
newest earlier version that made vectors, and this folder stays while a manifest refers to it.

Files in `shards`, `segments` and `versions` never change. A manifest is created last, and only if its version does not
exist yet. The newest version is therefore always complete, even if a job dies.
"""

from bitcipher.versions import VERSIONS

SHARDS = "shards"
SEGMENTS = "segments"
LEDGER = "ledger"
LEASE = "lease"
WORK = "work"

# Folders in which jobs create files, except for that of the lease.
JOB_FOLDERS = (VERSIONS, SHARDS, SEGMENTS, LEDGER, WORK)

REPORT = "report.json"
