"""Replace the placeholders of image digests in files by the digests that the registries have for the tags.

    python cluster/envs/pin_images.py FILE...

A release runs it for the Dockerfile before the image is built, and for the manifests after the image is pushed under
the name that they give. It needs Docker with buildx, and access to the registries.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from bitcipher.terminal import print_text

PLACEHOLDER = "sha256:" + 64 * "0"

_IMAGE = re.compile(rf"(?<![\w./:-])([\w./:-]+:[\w.-]+)@{PLACEHOLDER}")
_DIGEST = re.compile("sha256:[0-9a-f]{64}")


def pin_images(paths: list[Path]) -> dict[str, str]:
    """Replace the placeholders in files, all or none, and return the digest of each image.

    Raises:
        SystemExit: if a file cannot be read, or the digest of an image cannot be found.
    """
    try:
        texts = {path: path.read_text("utf-8") for path in paths}
    except (OSError, ValueError) as error:
        sys.exit(f"A file cannot be read ({error}): give the Dockerfile or manifests.")
    for path, text in texts.items():
        if not _IMAGE.search(text):
            print_text(f"{path} has no placeholder of a digest.", err=True)
    digests = {image: find_digest(image) for text in texts.values() for image in _IMAGE.findall(text)}
    for path, text in texts.items():
        path.write_text(_IMAGE.sub(lambda match: f"{match[1]}@{digests[match[1]]}", text))
    return digests


def find_digest(image: str) -> str:
    """Return the digest of an image in its registry."""
    command = ["docker", "buildx", "imagetools", "inspect", image, "--format", "{{.Manifest.Digest}}"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit("Docker with buildx is needed to ask registries for digests: install it.")
    if "unknown flag" in result.stderr or "is not a docker command" in result.stderr:
        sys.exit("Docker has no buildx, which asks registries for digests: install it.")
    digest = result.stdout.strip()
    if result.returncode or not _DIGEST.fullmatch(digest):
        reason = next(iter(result.stderr.strip().splitlines()), "no digest")
        sys.exit(f"The digest of {image} cannot be found ({reason}): push the image, or correct its name.")
    return digest


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="Dockerfile or manifest")
    for name, found in pin_images(parser.parse_args().files).items():
        print_text(f"{name}@{found}")
