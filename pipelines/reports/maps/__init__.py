"""Maps of words: where words lie on a plane, in which group, and the scripts that draw them on a page.

Its libraries are in the optional extra `report`, so they are loaded only when a map is made.
"""

from importlib.util import find_spec

from bitcipher.errors import BitcipherError

# The module that is imported, and the name that it is installed by.
_LIBRARIES = {"jinja2": "jinja2", "openTSNE": "opentsne", "sklearn": "scikit-learn"}


def require_libraries() -> None:
    """Refuse to begin if a page with a map could not be made.

    Raises:
        BitcipherError: if a library is missing.
    """
    missing = [name for module, name in _LIBRARIES.items() if find_spec(module) is None]
    if missing:
        raise BitcipherError(
            f"A page needs {' and '.join(missing)}: install what it takes by `pip install 'bitcipher[report]'`."
        )
