"""The demo, and its text: docstrings of the installed Python packages."""
