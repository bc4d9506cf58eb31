"""Names of a package that are imported when they are first used (PEP 562).

Wrong options must be reported before libraries are loaded that take seconds of CPU time, such as torch.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    No name may be that of a module of the package, because importing this module would hide it.

    Args:
        package: name of the package.
        modules: public names by the full name of their module.
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
