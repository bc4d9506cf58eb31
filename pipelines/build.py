"""The build: sources → shards of documents → words and pairs per shard → merged counts → vectors."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from bitcipher import __version__, storage
from bitcipher.cipher import BitCipher
from bitcipher.vocabulary import Vocabulary
from pipelines import folder, reduce, words
from pipelines.costs import Costs
from pipelines.count import CountStage, ReadStage
from pipelines.embed import embed_stage
from pipelines.options import BuildOptions
from pipelines.plan import ReadTask, estimated_text_bytes, plan_reading
from pipelines.progress import StageProgress
from pipelines.runtime import Row, Runtime, StageSpec
from pipelines.sources import list_sources
from pipelines.tokenizers import tokenizer_path


def build(
    patterns: Sequence[str], target: str, options: BuildOptions, runtime: Runtime, progress: StageProgress
) -> None:
    """Build counts and vectors, and publish them as one folder (see `pipelines.folder`).

    Args:
        patterns: files, folders or globs.
        target: the folder, by path or URI; it must not be there yet.
        options: how.
        runtime: where the stages run; the same bytes come out of each.
        progress: where to show how far it is.

    Raises:
        BitcipherError: if sources, options or target do not allow it; the target is then not there at all.
    """
    target = storage.absolute(target)
    folder.check_free(target)
    sources = list_sources(patterns, options.format)
    tasks = plan_reading(sources, options.shard_megabytes << 20)
    with folder.unfinished_folder(target) as work:
        costs = Costs(runtime.workers)
        shards = _count(tasks, work, options, runtime, progress, costs)
        vocabulary, ranges = _choose_vocabulary(shards, work, options, progress, costs)
        _merge([shard["name"] for shard in shards], ranges, vocabulary, work, runtime, progress, costs)
        manifest = {
            "format": folder.FORMAT,
            "bitcipher": __version__,
            "options": options.to_dict(),
            "sources": [asdict(source) for source in sources],
            "shards": shards,
            **_sizes(shards, vocabulary),
            "sha256": {"words": folder.digest(work, folder.WORDS), "pairs": folder.digest(work, folder.PAIRS)},
        }
        if options.tokenizer.startswith("spacy"):
            manifest["spacy"] = version("spacy")
        manifest["vectors"] = _embed(manifest, work, options, runtime, progress, costs)
        manifest["sha256"]["vectors"] = folder.digest(work, storage.join(folder.VECTORS, "vectors.safetensors"))
        storage.write_json(storage.join(work, folder.REPORT), costs.to_dict())
        storage.write_json(storage.join(work, folder.MANIFEST), manifest)


def _count(
    tasks: list[ReadTask], work: str, options: BuildOptions, runtime: Runtime, progress: StageProgress, costs: Costs
) -> list[Row]:
    """Read and count all sources; returns the sizes of the shards, in the order of their names."""
    documents = storage.join(work, "documents")
    stages = [
        StageSpec(
            "read",
            ReadStage,
            {
                "folder": documents,
                "document": options.document,
                "field": options.field,
                "shard_bytes": options.shard_megabytes << 20,
            },
        ),
        StageSpec(
            "count",
            CountStage,
            {
                "folder": storage.join(work, "shards"),
                "tokenizer": tokenizer_path(options.tokenizer),
                "lowercase": options.lowercase,
                "radius": options.window.radius,
                "summed": options.window.summed,
            },
        ),
    ]
    bar = progress.begin("count", sum(estimated_text_bytes(source) for task in tasks for source in task.sources))
    start = time.perf_counter()
    shards, tokens = [], 0
    for shard in runtime.stream(stages, [task.to_row() for task in tasks]):
        costs.add(shard.pop("costs"))
        shards.append(shard)
        tokens += shard["tokens"]
        rate = tokens / (time.perf_counter() - start)
        read = sum(shard["documents"] for shard in shards)
        note = f"{read:,} documents, {tokens / 1e6:,.1f} M tokens, {rate / 1e6:.2f} M/s"
        progress.advance(bar, shard["text_bytes"], note)
    progress.end(bar)
    if not options.keep_documents:
        storage.remove(documents)
    return sorted(shards, key=lambda shard: shard["name"])


def _choose_vocabulary(
    shards: list[Row], work: str, options: BuildOptions, progress: StageProgress, costs: Costs
) -> tuple[Vocabulary, list[tuple[str, str]]]:
    """Write the vocabulary; also cut the rows into ranges."""
    bar = progress.begin("words", 1)
    with costs.measured("words"):
        merged = words.merge_words([storage.join(work, "shards", shard["name"]) for shard in shards])
        vocabulary = words.choose_vocabulary(merged, sum(shard["total_documents"] for shard in shards), options)
        BitCipher(options.embedding.bits).active_bits(len(vocabulary))  # too few bits show before the merge
        storage.write_table(storage.join(work, folder.WORDS), vocabulary.to_table())
        ranges = words.cut_ranges(merged, reduce.RANGE_ENTRIES)
    progress.advance(bar, 1, f"{len(vocabulary):,} words")
    return vocabulary, ranges


def _merge(
    shards: list[str],
    ranges: list[tuple[str, str]],
    vocabulary: Vocabulary,
    work: str,
    runtime: Runtime,
    progress: StageProgress,
    costs: Costs,
) -> None:
    """Add up the pairs of all shards, range by range."""
    names = {name: storage.join(work, name) for name in ("shards", "ranks", "oov", folder.PAIRS)}
    common = {"shards": names["shards"], "ranks": names["ranks"], "vocabulary": storage.join(work, folder.WORDS)}
    cut = StageSpec("merge", reduce.CutStage, {**common, "ranges": ranges})
    merge = StageSpec("merge", reduce.MergeStage, {**common, "pairs": names[folder.PAIRS], "oov": names["oov"]})
    bar = progress.begin("cut", len(shards))
    runs: dict[str, list[list[int]]] = {}
    for shard in runtime.stream([cut], [{"name": name} for name in shards]):
        costs.add(shard["costs"])
        runs[shard["name"]] = shard["runs"]
        progress.advance(bar, 1, "")
    rows = [
        {"name": f"{i:05d}", "runs": {name: runs[name][i] for name in shards if runs[name][i][0] < runs[name][i][1]}}
        for i in range(len(ranges))
    ]
    bar = progress.begin("merge", len(rows))
    entries = 0
    for merged in runtime.stream([merge], rows):
        costs.add(merged["costs"])
        entries += merged["entries"]
        progress.advance(bar, 1, f"{entries:,} pairs")
    with costs.measured("merge"):
        parts = [storage.join(names["oov"], row["name"]) for row in rows]
        reduce.merge_oov(parts, vocabulary, storage.join(names[folder.PAIRS], "oov"))
    storage.remove(names["oov"])
    storage.remove(names["ranks"])


def _embed(
    manifest: dict[str, Any], work: str, options: BuildOptions, runtime: Runtime, progress: StageProgress, costs: Costs
) -> Row:
    stage = embed_stage(work, options.window, options.embedding, manifest)
    bar = progress.begin("embed", 1)
    (sizes,) = runtime.stream([stage], [{"target": storage.join(work, folder.VECTORS)}])
    costs.add(sizes.pop("costs"))
    progress.advance(bar, 1, f"{sizes['words']:,} × {sizes['dimensions']}")
    return sizes


def _sizes(shards: list[Row], vocabulary: Vocabulary) -> dict[str, Any]:
    return {
        "documents": sum(shard["documents"] for shard in shards),
        "text_bytes": sum(shard["text_bytes"] for shard in shards),
        "tokens": sum(shard["tokens"] for shard in shards),
        "vocabulary": len(vocabulary),
        "oov_tokens": int(vocabulary.counts[vocabulary.oov_rank]),
    }
