"""Maps of words: positions and groups of words in two dimensions, and the scripts that draw them.

Its libraries belong to the optional extra `report`, so they are imported only when a map is made.
"""

from importlib.util import find_spec

from bitcipher.errors import BitcipherError

# Packages by the name of their module.
_LIBRARIES = {"jinja2": "jinja2", "openTSNE": "opentsne", "sklearn": "scikit-learn"}


def require_libraries() -> None:
    """Check that the libraries for a page with a map are installed.

    Raises:
        BitcipherError: if a library is missing.
    """
    missing = [name for module, name in _LIBRARIES.items() if find_spec(module) is None]
    if missing:
        raise BitcipherError(
            f"Pages need {' and '.join(missing)}: install them with `pip install 'bitcipher[report]'`."
        )
