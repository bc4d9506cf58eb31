"""Methods that make, open, save and convert vectors."""

import os
from collections.abc import Iterable
from numbers import Integral
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from bitcipher.installation import install_command
from bitcipher.table.manifest import MANIFEST
from bitcipher.table.vector_folder import read_folder, write_folder
from bitcipher.table.vector_table import VectorTable
from bitcipher.vectors import hub
from bitcipher.versions import VERSIONS, vectors_of

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    Sources = str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Iterable[str] | Iterable[list[str]]


class StoredVectors(VectorTable):
    """The part of `CipherVectors` that makes, opens, saves and converts vectors."""

    @classmethod
    def build(
        cls,
        sentences_or_paths: "Sources",
        out: str | os.PathLike[str] | None = None,
        *,
        workers: int | Literal["auto"] = 0,
        **options: Any,
    ) -> Self:
        """Count a corpus and make word vectors, the same bytes as `bitcipher build`. Needs `bitcipher[pipelines]`.

        Args:
            sentences_or_paths: a path, URI or glob of files, or several; or an iterable of documents: strings, which
                are tokenized as by `bitcipher build`, or lists of tokens, which are taken as they are. Documents are
                written to a temporary file one by one, so a generator of any length fits in memory. Strings are paths
                if the first one has no white space, and is a URI, exists, or has the ending of a readable format.
            out: folder of the build, a path or URI, which must not exist; without one, only the vectors are kept.
            workers: number of Ray workers; 0 runs in process, with a thread per core.
            **options: options of `bitcipher build`, such as `vector_size`, `window` and `min_count`.

        Raises:
            BitcipherError: if the sources, an option or `out` are not valid, or if the extra is not installed.

        >>> from bitcipher import CipherVectors
        >>> texts = ["the cat saw the dog", "the dog saw a cat", "a dog and a cat"]
        >>> CipherVectors.build(texts, vector_size=3, window=2, min_count=1, spelling_share=0.0)
        CipherVectors(7 words, 3 dimensions)
        """
        try:
            from bitcipher import build as make_build

            if out is not None:
                make_build(sentences_or_paths, out, workers=workers, **options)
                return cls.load(out)
            with TemporaryDirectory(prefix="bitcipher-build-") as folder:
                build = storage.join(folder, "build")
                make_build(sentences_or_paths, build, workers=workers, **options)
                return cls.from_table(read_folder(vectors_of(build), mmap=False))
        except ModuleNotFoundError as error:
            raise BitcipherError(
                f"CipherVectors.build needs {error.name}, which is not installed: run `{install_command('pipelines')}`."
            ) from None

    @classmethod
    def load(
        cls,
        uri: str | os.PathLike[str],
        version: int | None = None,
        format: str | None = None,
        mmap: bool = True,
        verify: bool = False,
    ) -> Self:
        """Open the vectors of a build, a folder that `save` wrote, or a file or folder of another tool.

        Files of other tools are read as they were written, or refused; `bitcipher/formats/README.md` has the rules.

        All sizes, types and shapes of builds and of folders of `save` are checked, and the SHA-256 of each file that is
        read. Memory-mapped vectors are not read, so their SHA-256 is checked only on request.

        Args:
            uri: a local path, a URI that fsspec supports, an address of a file on the web, or hf://OWNER/NAME (see
                `from_pretrained`). Text files and word2vec's binary files can be compressed with gzip.
            version: version of the build, by default the newest.
            format: a name in `bitcipher.formats.registry.FORMATS`, by default detected from the content.
            mmap: whether to memory-map the vectors of a local build or folder of `save`, copy-on-write: no change of
                the array in memory changes a file.
            verify: whether to check the SHA-256 and the values of memory-mapped vectors too, which reads them (about
                one second per GB).

        Raises:
            BitcipherError: if there are no such vectors, their format is not supported, or they are damaged.
        """
        uri = os.fspath(uri)
        if hub.is_hub_uri(uri):
            uri = hub.download(uri)
        if version is not None or (format is None and _is_folder_of_vectors(uri)):
            return cls.from_table(read_folder(vectors_of(uri, version), mmap, verify))
        from bitcipher.formats.reader import read

        return cls.from_table(read(uri, format))

    @classmethod
    def load_word2vec_format(
        cls,
        fname: str | os.PathLike[str],
        fvocab: str | os.PathLike[str] | None = None,
        binary: bool = False,
        encoding: str | None = None,
        unicode_errors: str = "strict",
        limit: int | None = None,
        datatype: Any = np.float32,
        no_header: bool = False,
    ) -> Self:
        """Read a file of word2vec or GloVe. Names and positions are gensim's; `load` detects the format.

        Args:
            fname: path or URI of the file, with or without gzip.
            fvocab: file with a word and its count per line.
            binary: whether the file is in word2vec's binary format.
            encoding: encoding of both files; by default that of a byte-order mark, or UTF-8.
            unicode_errors: what to do with words that are not text in this encoding: "strict" raises an error,
                "replace" replaces the bytes by U+FFFD, and "ignore" leaves them out. Words that become equal only by
                this are an error.
            limit: keep only this many words, the first ones.
            datatype: float32, the type of all vectors of this class.
            no_header: whether the text file has no header, as GloVe's.

        Raises:
            BitcipherError: if there is no such file, it is damaged or has another format or encoding, or an argument is
                not valid.
        """
        from bitcipher.formats import glove, word2vec, word2vec_binary
        from bitcipher.formats.count_lines import read_counts

        if datatype not in (np.float32, np.dtype(np.float32), "float32"):
            raise BitcipherError(f"`datatype` must be float32, the type of the vectors, got {datatype!r}.")
        if limit is not None and (not isinstance(limit, Integral) or limit < 1):
            raise BitcipherError(f"`limit` must be an integer of at least 1 or None, got {limit!r}.")
        module = word2vec_binary if binary else glove if no_header else word2vec
        table = module.read(os.fspath(fname), encoding, unicode_errors)
        words, vectors = table.words[:limit], table.vectors[:limit]
        counts = read_counts(fvocab, words.to_pylist(), encoding) if fvocab else None
        return cls.from_table(VectorTable(words, vectors, counts, manifest=table.manifest))

    def save(self, uri: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the vectors to a folder, which appears under its name only when it is complete.

        The folder holds `vectors.safetensors`, `words.parquet`, `manifest.json`, and `refinement.safetensors` if there
        is a refinement. More than 1 GiB of vectors are several files with an index, as in transformers. Equal vectors
        give equal bytes.

        Args:
            uri: a local path or a URI that fsspec supports.
            overwrite: whether to replace an existing folder of vectors.

        Raises:
            BitcipherError: if `uri` exists, if it cannot be written, if JSON cannot hold the manifest, or if a value is
                not finite.

        >>> import numpy as np
        >>> from bitcipher import CipherVectors
        >>> CipherVectors(["cat", "<oov>"], np.eye(2)).save("memory://doctest/cat", overwrite=True)
        >>> CipherVectors.load("memory://doctest/cat").index_to_key
        ['cat', '<oov>']
        """
        write_folder(os.fspath(uri), self, overwrite)

    def save_word2vec_format(
        self,
        fname: str | os.PathLike[str],
        fvocab: str | os.PathLike[str] | None = None,
        binary: bool = False,
        write_header: bool = True,
    ) -> None:
        """Write a file of word2vec or GloVe, compressed if its name ends in .gz. An existing file is replaced.

        Names and defaults are gensim's. `export` has more formats.

        Args:
            fname: path or URI of the file.
            fvocab: file to write with a word and its count per line.
            binary: whether to write word2vec's binary format.
            write_header: whether the text file has a header; GloVe's has none.

        Raises:
            BitcipherError: if the file cannot be written, or the format cannot represent one of the words.
        """
        from bitcipher.formats.count_lines import write_counts
        from bitcipher.formats.writer import replace

        if fvocab and self.counts is None:
            raise BitcipherError("The vectors have no counts, which `fvocab` needs: leave it out.")
        if binary and not write_header:
            raise BitcipherError("word2vec's binary format has a header: leave out `write_header`.")
        replace(self, "word2vec-binary" if binary else "word2vec" if write_header else "glove", fname)
        if fvocab:
            write_counts(fvocab, self)

    def export(self, format: str, target: str | os.PathLike[str]) -> None:
        """Write the vectors in the format of another library. Equal vectors give equal bytes.

        Args:
            format: a name in `bitcipher.formats.registry.FORMATS`.
            target: a local path or a URI that fsspec supports. It must not exist.

        Raises:
            BitcipherError: if `target` exists, or if the format cannot represent one of the words.
        """
        from bitcipher.formats.writer import write

        write(self, format, target)

    @classmethod
    def from_pretrained(cls, repo_id: str, revision: str | None = None, token: str | None = None) -> Self:
        """Download vectors from a repository of the Hugging Face Hub, and open them. Needs `bitcipher[hub]`.

        Args:
            repo_id: OWNER/NAME, with /FILE for one file such as a .vec file. Without a file, the repository is a folder
                that `push_to_hub` wrote, or a static model.
            revision: branch, tag or commit, by default the newest.
            token: access token; by default that of `hf auth login` or of HF_TOKEN.

        Raises:
            BitcipherError: if huggingface_hub is not installed, the Hub refuses the request, or the files are not
                vectors.
        """
        return cls.load(hub.download(f"{hub.PROTOCOL}{repo_id}", revision, token))

    def push_to_hub(
        self,
        repo_id: str,
        private: bool | None = None,
        commit_message: str = "Upload word vectors",
        token: str | None = None,
    ) -> str:
        """Upload the folder of `save` to a repository of the Hugging Face Hub, and return the URL of the commit.

        Args:
            repo_id: OWNER/NAME. A missing repository is created, with a short README.
            private: whether a new repository is private; None for the default of the owner.
            commit_message: message of the commit.
            token: access token; by default that of `hf auth login` or of HF_TOKEN.

        Raises:
            BitcipherError: if huggingface_hub is not installed, or the Hub refuses the request.
        """
        card = hub.CARD.format(words=len(self), dimensions=self.vector_size, repository=repo_id)
        with TemporaryDirectory(prefix="bitcipher-hub-") as folder:
            vectors = storage.join(folder, "vectors")
            self.save(vectors)
            return hub.upload(vectors, repo_id, card, private, commit_message, token)

    @classmethod
    def from_gensim(cls, keyed_vectors: "KeyedVectors") -> Self:
        """Return a copy of gensim's `KeyedVectors`, with their counts if they have them.

        Raises:
            BitcipherError: if the argument is not `KeyedVectors`. Pass the `wv` of a gensim model.
        """
        from bitcipher.formats.gensim_vectors import from_gensim

        return cls.from_table(from_gensim(keyed_vectors))

    def to_gensim(self) -> "KeyedVectors":
        """Return a copy as gensim's `KeyedVectors`, with the attributes "count" and "passages" if present.

        Raises:
            BitcipherError: if gensim is not installed.
        """
        from bitcipher.formats.gensim_vectors import to_gensim

        return to_gensim(self)


def _is_folder_of_vectors(uri: str) -> bool:
    """Return whether a URI is a build, a folder of `save`, or nothing at all, which is reported as a missing folder."""
    if storage.is_web_address(uri) or storage.is_local_file(uri):
        return False
    return any(storage.exists(storage.join(uri, name)) for name in (VERSIONS, MANIFEST)) or not storage.exists(uri)
