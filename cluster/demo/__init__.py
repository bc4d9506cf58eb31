"""The demo, and the docstrings of installed Python packages that it uses as text."""
