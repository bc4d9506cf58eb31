"""Files of the vectors that embeddings start from, with their digests."""

from bitcipher.files import storage
from bitcipher.versions import vectors_of
from pipelines.store.recorded_inputs import ListFiles, digest_folder


def vectors_listing(vectors: str) -> ListFiles:
    """Return a function that lists the files of vectors: of a file, a folder, or the newest version of a build."""
    return lambda: digest_folder(vectors_of(storage.absolute(vectors)))
