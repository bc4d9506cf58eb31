"""Folder of Ray's own files, on a disk or in a store."""

from typing import Any

from bitcipher.files import storage


def ray_storage(folder: str) -> dict[str, Any]:
    """Return the options of Ray's storage for a folder. In a store, Ray uses the same client as bitcipher."""
    filesystem, path = storage.url_to_fs(folder)
    if storage.is_local(filesystem):
        return {"storage_path": path}
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    return {"storage_path": path, "storage_filesystem": PyFileSystem(FSSpecHandler(filesystem))}
