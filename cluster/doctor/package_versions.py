"""Checks of installed versions, on this machine and between the nodes of a cluster."""

import platform
from collections.abc import Collection, Mapping
from importlib import metadata

from bitcipher.installation import install_command
from cluster.doctor.check_result import CheckResult, ok, problem, warning

# Packages whose versions can change results, or must be the same for nodes to communicate.
LIBRARIES = ("ray", "numba", "numpy", "pyarrow", "spacy")

# Packages whose versions must be the same on all nodes. Ray refuses nodes with other versions.
MUST_MATCH = ("python", "ray")


def installed_versions() -> dict[str, str | None]:
    """Return the versions of Python and of `LIBRARIES`, None for a missing package."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return versions


def check_versions(versions: Mapping[str, str | None]) -> CheckResult:
    """Check that all packages are installed."""
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        return problem("versions", f"{', '.join(missing)} missing: {install_command('pipelines')}.")
    return ok("versions", ", ".join(f"{name} {version}" for name, version in versions.items()) + ".")


def check_same_versions(
    ours: Mapping[str, str | None], theirs: Mapping[str, str | None], reference: str, must_match: Collection[str] = ()
) -> CheckResult:
    """Check that a node has the same versions as a reference machine.

    Args:
        ours: versions of the reference machine.
        theirs: versions of the node.
        reference: name of the reference machine.
        must_match: packages for which another version is a problem, not a warning.
    """
    other = [name for name in ours if theirs.get(name) != ours[name]]
    if not other:
        return ok("versions", f"Same as {reference}.")
    message = ", ".join(f"{name} is {theirs.get(name)}, not {ours[name]}" for name in other)
    if any(name in must_match for name in other):
        return problem("versions", f"Different from {reference}: {message}. Use one image or lock file for all nodes.")
    return warning("versions", f"Different from {reference}: {message}. Results may differ; use one image for all.")
