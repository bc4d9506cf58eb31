"""Metrics are read as they are appended, from the start if a resumed run replaced them."""

import os

from bitcipher.files import storage
from training.loop.file_names import METRICS
from training.loop.metrics_tail import MetricsTail


def test_only_new_complete_lines_are_read(tmp_path):
    path, tail = tmp_path / METRICS, MetricsTail(str(tmp_path))
    assert tail.read() == []
    path.write_text('{"step": 1}\n{"step": 2}\n{"ste')
    assert tail.read() == [{"step": 1}, {"step": 2}]
    assert tail.read() == []
    with path.open("a") as stream:
        stream.write('p": 3}\nnonsense\n[]\n{"step": 4}\n')
    assert tail.read() == [{"step": 3}, {"step": 4}]


def test_replaced_file_is_read_from_the_start(tmp_path):
    path, tail = tmp_path / METRICS, MetricsTail(str(tmp_path))
    path.write_text('{"step": 1}\n{"step": 2}\n')
    tail.read()
    other = tmp_path / "other"
    other.write_text('{"step": 1}\n{"step": 2}\n{"step": 3}\n')
    os.replace(other, path)
    assert [line["step"] for line in tail.read()] == [1, 2, 3]
    path.write_text('{"step": 1}\n')
    assert tail.read() == [{"step": 1}]


def test_metrics_in_a_store_are_read_as_they_are_uploaded(tmp_path):
    folder = f"memory://{tmp_path}"
    uri, tail = f"{folder}/{METRICS}", MetricsTail(folder)
    assert tail.read() == []
    storage.write_bytes(uri, b'{"step": 1}\n{"step": 2}\n')
    assert [line["step"] for line in tail.read()] == [1, 2]
    storage.write_bytes(uri, b'{"step": 1}\n{"step": 2}\n{"step": 3}\n')
    assert [line["step"] for line in tail.read()] == [3]
    storage.write_bytes(uri, b'{"step": 1}\n')
    assert [line["step"] for line in tail.read()] == [1]
    storage.remove(folder)
