"""Studies of small models in a small language: what they are made of, and what they found; see README.md."""
