"""Checks of versions: of what is installed here, and of the nodes among each other."""

import platform
from collections.abc import Collection, Mapping
from importlib import metadata

from cluster.doctor.finding import CheckResult, ok, problem, warning

# Of these, other versions may give other bytes, or do not speak with each other.
LIBRARIES = ("ray", "numba", "numpy", "pyarrow", "spacy")

# Nodes of one cluster must agree in these, or Ray refuses them.
PARTNERS = ("python", "ray")


def installed_versions() -> dict[str, str | None]:
    """The versions of Python and the libraries; None where one is missing."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return versions


def check_versions(versions: Mapping[str, str | None]) -> CheckResult:
    """Whether all is there."""
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        return problem("versions", f"{', '.join(missing)} missing: pip install bitcipher.")
    return ok("versions", ", ".join(f"{name} {version}" for name, version in versions.items()) + ".")


def check_same_versions(
    ours: Mapping[str, str | None], theirs: Mapping[str, str | None], where: str, partners: Collection[str] = ()
) -> CheckResult:
    """Whether a node has the versions of another machine.

    Args:
        ours: versions of the one machine.
        theirs: versions of the node.
        where: what the one machine is called.
        partners: the names in which another version is a problem.
    """
    other = [name for name in ours if theirs.get(name) != ours[name]]
    if not other:
        return ok("versions", f"The same as {where}.")
    says = ", ".join(f"{name} is {theirs.get(name)}, not {ours[name]}" for name in other)
    if any(name in partners for name in other):
        return problem("versions", f"Unlike {where}, {says}: use one image or one lock file for all.")
    return warning("versions", f"Unlike {where}, {says}: results may differ in their bytes; use one image for all.")
