"""HTML pages about vectors, and the maps of words in them."""
