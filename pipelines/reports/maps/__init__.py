"""Word maps: two-dimensional layout, groups of similar words, and the scripts that draw them.

The libraries come with the optional extra `report`. Code that must work without it calls `require_libraries`, and then
imports `layout` and `drawing` inside functions.
"""

from importlib.util import find_spec

from bitcipher.errors import BitcipherError
from bitcipher.installation import install_command

# Package name of each module.
_LIBRARIES = {"jinja2": "jinja2", "openTSNE": "opentsne", "sklearn": "scikit-learn"}


def require_libraries() -> None:
    """Check that the libraries for map pages are installed.

    Raises:
        BitcipherError: if a library is missing.
    """
    missing = [name for module, name in _LIBRARIES.items() if find_spec(module) is None]
    if missing:
        raise BitcipherError(f"Pages need {' and '.join(missing)}: install them with `{install_command('report')}`.")
