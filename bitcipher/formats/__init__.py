"""File formats of other libraries: one module per format, `read` to detect and read them, `write` to write them."""
