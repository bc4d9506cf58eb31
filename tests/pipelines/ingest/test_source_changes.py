from pipelines.ingest.source_changes import compare_sources
from pipelines.ingest.sources import Source


def source(uri, content):
    return Source(uri=uri, size=len(content), format="text", stamp="stamp", sha256=content)


KNOWN = [source("/corpus/a.txt", "A"), source("/corpus/b.txt", "B"), source("/other/c.txt", "C")]


def names(sources):
    return [one.uri for one in sources]


def test_new_changed_and_vanished_sources():
    listing = [source("/corpus/b.txt", "B2"), source("/corpus/d.txt", "D")]
    changes = compare_sources(listing, KNOWN, ["/corpus"])
    assert names(changes.new) == ["/corpus/d.txt"]
    assert names(changes.changed) == ["/corpus/b.txt"]
    assert names(changes.vanished) == ["/corpus/a.txt"]  # sources outside the listed directory are not reported
    assert changes.removed_content(KNOWN) == {"A", "B"}


def test_renamed_and_copied_content_is_recognized():
    listing = [source("/corpus/renamed.txt", "A"), source("/corpus/e.txt", "E"), source("/corpus/f.txt", "E")]
    changes = compare_sources(listing, KNOWN, ["/corpus/*.txt"])
    assert names(changes.copies) == ["/corpus/renamed.txt", "/corpus/f.txt"]
    assert names(changes.new) == ["/corpus/e.txt"]
    assert names(changes.vanished) == ["/corpus/b.txt"]  # a.txt was renamed, so its content still exists
    assert changes.removed_content(KNOWN) == {"B"}


def test_content_that_another_counted_source_has_is_not_removed():
    known = [*KNOWN, source("/other/copy.txt", "A")]
    changes = compare_sources([source("/corpus/b.txt", "B")], known, ["/corpus"])
    assert names(changes.vanished) == ["/corpus/a.txt"]
    assert changes.removed_content(known) == set()


def test_only_sources_that_match_a_pattern_can_vanish():
    new = [source("/corpus/new.txt", "N")]
    assert compare_sources(new, KNOWN, ["/corpus/new.txt"]).vanished == []
    assert compare_sources(new, KNOWN, ["/corpus/*.gz", "/corpus/new.txt"]).vanished == []
    assert names(compare_sources(new, KNOWN, ["/**/*.txt"]).vanished) == [
        "/corpus/a.txt",
        "/corpus/b.txt",
        "/other/c.txt",
    ]
