"""Tables of words and vectors: their content, key lookup, and the folder that stores them."""
