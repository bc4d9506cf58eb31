"""Human-readable numbers of bytes."""

# Decimal units, as for disks and object stores, and for memory in Ray.
_UNITS = ("B", "kB", "MB", "GB", "TB")


def format_size(size: float) -> str:
    """Return a number of bytes with three significant digits and a decimal unit.

    >>> format_size(64 << 20)
    '67.1 MB'
    """
    for unit in _UNITS:
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} PB"
