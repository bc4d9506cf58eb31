"""Temporary files of arrays."""

import uuid

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from bitcipher.errors import BitcipherError
from pipelines.embed.spectral.array_files import read_array, read_slice, write_array

any_array = st.sampled_from([np.int16, np.int32, np.int64, np.float32, np.float64]).flatmap(
    lambda dtype: arrays(dtype, array_shapes(min_dims=1, max_dims=3, min_side=0))
)


@pytest.mark.parametrize("store", ["disk", "memory"])
@given(array=any_array, data=st.data())
@settings(max_examples=50, deadline=None)
def test_arrays_and_their_slices_are_read_back(tmp_path_factory, store, array, data):
    name = f"{uuid.uuid4().hex}.array"
    uri = f"memory://{name}" if store == "memory" else str(tmp_path_factory.getbasetemp() / name)
    write_array(uri, array)
    found = read_array(uri)
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())
    start, stop = sorted(data.draw(st.tuples(st.integers(0, len(array)), st.integers(0, len(array)))))
    assert read_slice(uri, start, stop).tobytes() == array[start:stop].tobytes()


def test_missing_array_raises():
    with pytest.raises(BitcipherError, match="is missing"):
        read_array("memory://nosuch.array")
