"""Class separability by layer over the training of a language model; see README.md."""
