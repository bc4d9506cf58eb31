"""Report page of the demo: build sizes, nearest neighbors per table, and maps of frequent words."""
