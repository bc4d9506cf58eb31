"""Output of `bitcipher verify`."""

from bitcipher.sizes import format_size
from bitcipher.terminal import print_text
from cluster.cli.display.console import OUT, format_count
from pipelines.verify.verify import VerifyResult


def print_damage(folder: str, result: VerifyResult) -> None:
    """Print the damaged files of a folder, each with an advice."""
    for damage in result.damage:  # also with --quiet
        print_text(f"{damage.sentence}\n    {damage.advice}")
    found = format_count(len(result.damage), "damaged file") if result.damage else "no damage"
    OUT.print(f"{folder} ({result.kind}, {format_size(result.size)} read): {found}.")
