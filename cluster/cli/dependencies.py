"""Optional dependencies: finds the extra of bitcipher that provides a missing package.

The extras are read from the metadata of the installed distribution, so `pyproject.toml` is their only source.
"""

import re
from importlib.metadata import PackageNotFoundError, requires, version

from bitcipher.errors import BitcipherError
from bitcipher.installation import install_command

DISTRIBUTION = "bitcipher"
# Extras that are searched for a missing package. Error messages name the first extra that requires it.
EXTRAS = (
    "pipelines",
    "report",
    "training",
    "cluster",
    "s3",
    "datasets",
    "search",
    "hub",
    "wmd",
    "serve",
    "translation",
)
# Modules whose distribution has another name.
_DISTRIBUTIONS = {
    "sklearn": "scikit-learn",
    "smart_open": "smart-open",
    "openTSNE": "opentsne",
    "prometheus_client": "prometheus-client",
}


def require_extra(extra: str, purpose: str) -> None:
    """Check that all packages of an extra are installed.

    Args:
        extra: name of the extra in `pyproject.toml`.
        purpose: the command or feature that needs the packages, as the beginning of a sentence.

    Raises:
        BitcipherError: if a package is missing.
    """
    missing = [package for package in _packages_of(extra) if not _is_installed(package)]
    if missing:
        raise BitcipherError(f"{purpose} needs {', '.join(missing)}: {_advice(extra)}")


def explain_missing(error: ModuleNotFoundError) -> str | None:
    """Return a sentence that names the extra to install, or None if no extra has the missing module."""
    module = (error.name or "").partition(".")[0]
    package = _DISTRIBUTIONS.get(module, module)
    extra = next((extra for extra in EXTRAS if package in _packages_of(extra)), None)
    return f"this command needs {package}, which is not installed: {_advice(extra)}" if extra else None


def _packages_of(extra: str) -> list[str]:
    """Return the distributions that an extra requires, or none if bitcipher itself is not installed."""
    try:
        lines = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return []
    packages: list[str] = []
    for line in lines:
        requirement, _, marker = line.partition(";")
        if re.search(rf"""extra == ["']{re.escape(extra)}["']""", marker):
            name = re.match(r"[\w.-]+", requirement.strip())
            nested = re.search(r"\[([\w,\s-]+)\]", requirement)
            if name and name[0] == DISTRIBUTION and nested:
                packages += [package for each in nested[1].split(",") for package in _packages_of(each.strip())]
            elif name:
                packages.append(name[0])
    return packages


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _advice(extra: str) -> str:
    return f"{install_command(extra)}."
