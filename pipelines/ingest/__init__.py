"""Sources, their formats, and the documents in them."""
