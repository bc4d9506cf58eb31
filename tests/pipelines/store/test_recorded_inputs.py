"""Recorded inputs: what counts as the same, as differing, and as gone."""

from pathlib import Path

import pytest

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files
from pipelines.store.recorded_inputs import GivenInputs, RecordedInputs, digest_files, digest_folder


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    for path in paths:
        path.write_text(path.stem)
    return paths


def given(*paths: Path, version: int = 1) -> GivenInputs:
    return GivenInputs({"stage": version}, {"text": lambda: digest_files(map(str, paths))})


def listed(folder: Path) -> GivenInputs:
    return GivenInputs({"stage": 1}, {"text": lambda: digest_folder(str(folder))})


def recorded(inputs: GivenInputs, folder: Path) -> RecordedInputs:
    """Return inputs as they are read back from a file."""
    uri = str(folder / "inputs.json.stored")
    json_files.write(uri, inputs.record().to_dict())
    result = RecordedInputs.read(uri)
    Path(uri).unlink()
    return result


def is_same(inputs: GivenInputs, before: RecordedInputs, *, is_finished: bool = False) -> bool:
    return inputs.check_same(before, "The run", "remove it", is_finished=is_finished)


def test_unchanged_and_renamed_files_are_the_same(files, tmp_path):
    before = recorded(given(*files), tmp_path)
    assert is_same(given(*files), before)
    renamed = [path.rename(path.with_suffix(".text")) for path in files]
    assert is_same(given(*renamed), before)


def test_changed_added_and_swapped_files_are_refused(files, tmp_path):
    before = recorded(given(*files), tmp_path)
    with pytest.raises(BitcipherError, match="the order or the number of files"):
        is_same(given(files[1], files[0], files[2]), before, is_finished=True)
    (tmp_path / "d.txt").write_text("d")
    with pytest.raises(BitcipherError, match=r"text: .*d\.txt was added\): remove it"):
        is_same(given(*files, tmp_path / "d.txt"), before, is_finished=True)
    files[1].write_text("other")
    with pytest.raises(BitcipherError, match=r"The run was made from other inputs \(text: .*b\.txt has changed\)"):
        is_same(given(*files), before, is_finished=True)
    files[0].rename(tmp_path / "kept")
    with pytest.raises(BitcipherError, match=r"b\.txt has changed"):  # also if a file cannot be listed
        is_same(given(*files), before, is_finished=True)


def test_only_a_finished_result_needs_no_files_that_are_gone(files, tmp_path):
    before = recorded(listed(files[0].parent), tmp_path)
    files[2].unlink()
    assert not is_same(listed(tmp_path), before, is_finished=True)
    with pytest.raises(BitcipherError, match=r"c\.txt is missing, and The run is not complete"):
        is_same(listed(tmp_path), before)
    for path in files[:2]:
        path.unlink()
    assert not is_same(given(*files), before, is_finished=True)
    with pytest.raises(BitcipherError, match=r"a\.txt"):
        is_same(given(*files), before)


def test_another_version_of_a_stage_or_another_option_is_refused(files, tmp_path):
    before = recorded(given(*files), tmp_path)
    with pytest.raises(BitcipherError, match="stage: version 1 → 2"):
        is_same(given(*files, version=2), before, is_finished=True)
    other = GivenInputs({"stage": 1}, {"words": lambda: digest_files([str(files[0])])})
    with pytest.raises(BitcipherError, match=r"words: .*a\.txt was added"):
        is_same(other, before, is_finished=True)


def test_remote_files_of_a_record_are_not_opened(tmp_path):
    """Nothing is read from the network because a stored file names it."""

    def fail() -> list:
        raise BitcipherError("The server does not answer.")

    values = {"files": {"text": [{"uri": "http://127.0.0.1:9/a.txt", "sha256": "0" * 64}]}, "stages": {}}
    inputs = GivenInputs({}, {"text": fail})
    assert not is_same(inputs, RecordedInputs.parse(values), is_finished=True)
    with pytest.raises(BitcipherError, match="does not answer"):
        is_same(inputs, RecordedInputs.parse(values))


def test_records_have_no_credentials():
    file = {"uri": "https://user:hunter2@example.org/a.txt", "sha256": "0" * 64}
    stored = RecordedInputs.parse({"files": {"text": [file]}, "stages": {}})
    assert "hunter2" not in str(stored.to_dict())
