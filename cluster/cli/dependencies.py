"""What some commands need beyond bitcipher's own dependencies."""

from importlib.util import find_spec

from bitcipher.errors import BitcipherError

# The names of packages whose modules are called otherwise.
_PACKAGES = {"sklearn": "scikit-learn"}


def require(what: str, *modules: str) -> None:
    """Refuse to go on without what the extra `training` installs.

    Args:
        what: needs them, as the beginning of a sentence.
        modules: top-level names.

    Raises:
        BitcipherError: if one is not installed.
    """
    missing = [_PACKAGES.get(module, module) for module in modules if not find_spec(module)]
    if missing:
        raise BitcipherError(
            f"{what} needs {' and '.join(missing)}: install what it takes by `pip install 'bitcipher[training]'`."
        )
