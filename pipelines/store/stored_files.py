"""Files that the options of a stored build name: its tokenizer and its word list."""

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.options import BuildOptions
from pipelines.store.fingerprint import Fingerprint, fingerprint


def use_given_files(options: BuildOptions, build: str, **given: str | None) -> BuildOptions:
    """Return the options of a build with the files that the user gave.

    A build can come from someone else, so nothing is fetched from the network because its manifest names it.

    Args:
        options: options in the manifest.
        build: folder of the build, for messages.
        given: `tokenizer` and `word_list` if this command reads them: what the user gave, or None for the stored value.

    Raises:
        BitcipherError: if a stored value that is used is not a local path.
    """
    for name in given:
        stored = getattr(options, name)
        if given[name] is None and stored is not None and storage.local_path(stored) is None:
            option = f"--{name.replace('_', '-')}"
            raise BitcipherError(
                f"The manifest of {build} names {stored}, and nothing is read from the network because a stored file "
                f"names it: give it, or a copy, with `{option}`."
            )
    return options.derive({name: value for name, value in given.items() if value is not None})


def check_tokenizer(options: BuildOptions, recorded: Fingerprint, owner: str) -> None:
    """Check that a tokenizer.json is the one that a build was counted with.

    Args:
        options: options of the build, from `use_given_files`.
        recorded: fingerprint of the build.
        owner: name of the vectors, for messages.

    Raises:
        BitcipherError: if the file has another content, or cannot be read.
    """
    if fingerprint(options)["tokenizer"] != recorded.get("tokenizer"):
        raise BitcipherError(
            f"{options.tokenizer} is not the tokenizer that {owner} was counted with, because its content differs: "
            "give a copy of that one with `--tokenizer`."
        )
