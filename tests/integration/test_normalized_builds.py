"""Normalization of builds: equal counts of text that looks the same, and builds from before there was the option."""

import unicodedata

from builds import OPTIONS, digests, run_build, run_update

from bitcipher import CipherVectors
from bitcipher.files import json_files
from bitcipher.versions import manifest_uri

WORDS = ["café", "naïve", "Ångström", "müde", "plain", "words"]
LINES = "".join(f"{' '.join(WORDS[i:] + WORDS[:i])}\n" for i in range(6)) * 5
DECOMPOSED = unicodedata.normalize("NFD", LINES).replace("plain", "pl\u00adain").replace("words", "\u202awords\u202c")
AS_IT_IS = OPTIONS.derive({"normalization": "none"})


def write(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return folder


def test_text_that_looks_the_same_gives_the_same_build(tmp_path):
    run_build([write(tmp_path / "a", "a.txt", LINES)], tmp_path / "composed")
    run_build([write(tmp_path / "b", "a.txt", DECOMPOSED)], tmp_path / "decomposed")
    assert digests(tmp_path / "composed") == digests(tmp_path / "decomposed")
    vectors = CipherVectors.load(tmp_path / "decomposed")
    assert vectors.get_index("cafe\u0301") == vectors.get_index("café")
    assert vectors.encode(["nai\u0308ve"]).tolist() == vectors.encode(["naïve"]).tolist()


def test_build_from_before_the_option_is_updated_without_normalization(tmp_path):
    corpus = write(tmp_path / "corpus", "a.txt", LINES)
    manifest = run_build([corpus], tmp_path / "old", AS_IT_IS)
    uri = manifest_uri(str(tmp_path / "old"), 1)
    values = json_files.read(uri)
    del values["options"]["normalization"]
    assert "normalization" not in manifest["fingerprint"]
    json_files.write(uri, values)
    write(corpus, "b.txt", DECOMPOSED)
    run_update(tmp_path / "old", [corpus])
    run_build([corpus], tmp_path / "new", AS_IT_IS)
    assert digests(tmp_path / "old") == digests(tmp_path / "new")
    assert unicodedata.normalize("NFD", "café") in CipherVectors.load(tmp_path / "old").index_to_key


def test_copies_and_wrapped_lines_are_named(tmp_path, capfd):
    paragraph = "\n".join("The old lighthouse keeper walked along the shore in the evening and" for _ in range(30))
    corpus = write(tmp_path / "corpus", "a.txt", f"{paragraph}\n\n{paragraph}\nend.\n")
    write(corpus, "copy.txt", (corpus / "a.txt").read_text())
    run_build([corpus], tmp_path / "out")
    printed = capfd.readouterr().err
    assert "1 source has the content of another one, which is counted once" in printed
    assert "copy.txt" in printed
    assert "looks like text with wrapped lines" in printed
