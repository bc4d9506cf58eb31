import re

from fsspec.utils import glob_translate
from hypothesis import given, settings
from hypothesis import strategies as st

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


NAMES = st.sampled_from(["a", "b", "ab", "a.b", "[b]"])
GLOBS = NAMES | st.sampled_from(["*", "**", "a*", "?", "[ab]"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda names: "/" + "/".join(names))
PATTERNS = st.lists(GLOBS, max_size=3).map(lambda names: "/" + "/".join(names)) | PATHS.map("{}/".format)


@given(paths=st.sets(PATHS, min_size=1), patterns=st.lists(PATTERNS, max_size=4))
@settings(max_examples=300, deadline=None)
def test_vanished_sources_are_in_a_folder_or_match_a_glob(paths, patterns):
    known = [source(path, path) for path in sorted(paths)]
    expressions = [
        re.compile(f"{re.escape(pattern.rstrip('/'))}(/.*)?|{glob_translate(pattern.rstrip('/'))}")
        for pattern in patterns
    ]
    expected = [one.uri for one in known if any(each.fullmatch(one.uri) for each in expressions)]
    assert names(compare_sources([], known, patterns).vanished) == expected
