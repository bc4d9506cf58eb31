"""Convert a folder or a Git repository of text files, one book per file, to JSON lines, without copies.

    git clone --bare https://github.com/rcdm-uga/Gutenberg_Text
    python tests/benchmarks/make_books.py Gutenberg_Text.git --out books

Files are decoded as UTF-8, or else as Windows-1252, and lines end with "\\n". A book is a copy of an earlier one if
both have the same Project Gutenberg number or the same text. The files of the output have about 50 MB each. Prints
numbers of books and bytes as JSON.
"""

import argparse
import hashlib
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from json_lines import ENDINGS, JsonLinesWriter

# "[EBook #5830]" or "[Etext #5830]", in the first characters of a book.
NUMBER = re.compile(r"\[\s*e(?:book|text)\s*#\s*(\d+)\s*\]", re.IGNORECASE)
HEAD = 5000


def read_files(source: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of all files ending in .txt, sorted by path: of a folder, or of the HEAD of a repository.

    The content of a file that the repository lacks is empty.

    Raises:
        SystemExit: if Git cannot read the repository.
    """
    if not (source / "objects").is_dir():
        for file in sorted(source.rglob("*.txt")):
            yield str(file.relative_to(source)), file.read_bytes()
        return
    git = ["git", f"--git-dir={source}"]
    listing = subprocess.run([*git, "ls-tree", "-r", "-z", "HEAD"], check=True, capture_output=True).stdout
    entries = [line.split(b"\t", 1) for line in listing.split(b"\0") if line.endswith(b".txt")]
    with subprocess.Popen([*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for meta, path in sorted(entries, key=lambda entry: entry[1]):
            process.stdin.write(meta.split()[2] + b"\n")
            process.stdin.flush()
            header = process.stdout.readline().split()
            if header[1] == b"missing":  # the copy of the repository is incomplete
                yield path.decode(), b""
            else:
                yield path.decode(), process.stdout.read(int(header[2]) + 1)[:-1]
        process.stdin.close()


def decode(content: bytes) -> str:
    """Return the text of a file, with "\\n" as the end of lines."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def keys_of(text: str) -> list[str]:
    """Return the keys of a book; two books with a common key are copies."""
    letters = re.sub(r"\W+", "", text).lower()
    keys = [hashlib.sha256(letters.encode("utf-8", "replace")).hexdigest()]
    number = NUMBER.search(text[:HEAD])
    return [*keys, number[1]] if number else keys


def main() -> None:
    """Write the books."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="folder of text files, or a bare Git repository")
    parser.add_argument("--out", type=Path, required=True, help="folder of the output, which must not exist")
    parser.add_argument("--file-megabytes", type=float, default=50, help="MB of a file of the output, compressed")
    parser.add_argument("--ending", choices=ENDINGS, default=".json.gz")
    options = parser.parse_args()
    seen: set[str] = set()
    counts: Counter[str] = Counter()
    with JsonLinesWriter(options.out, options.file_megabytes * 1e6, options.ending) as writer:
        for path, content in read_files(options.source):
            text = decode(content)
            keys = keys_of(text)
            counts["files"] += 1
            if not text.strip():
                counts["empty"] += 1
            elif seen.isdisjoint(keys):
                counts["books"] += 1
                counts["bytes"] += len(text.encode())
                writer.write({"title": Path(path).stem, "text": text})
            seen.update(keys)
    print(json.dumps({**counts, "output_files": writer.files, "output_bytes": writer.bytes}))


if __name__ == "__main__":
    main()
