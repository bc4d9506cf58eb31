"""Explorer page: word map, search, nearest neighbors, explanations, and changes since an earlier version."""
