"""Stand-ins of GloVe's programs and of the Python of datatrove, for tests of our side of these comparisons.

They say nothing about speed. Those of GloVe count by brute force; that of datatrove runs our scripts, or does nothing.
"""

import os
import sys
import textwrap
from pathlib import Path

VOCAB_COUNT = """
    import sys
    from collections import Counter

    counts = Counter(word for line in sys.stdin for word in line.split())
    for word, count in counts.most_common():
        print(word, count)
"""

# Records of (left, right, count), with word numbers from 1, sorted by the left word; both directions are counted.
COOCCUR = """
    import struct
    import sys
    from collections import Counter

    window = int(sys.argv[sys.argv.index("-window-size") + 1])
    numbers = {line.split()[0]: number for number, line in enumerate(open("vocab.txt", encoding="utf-8"), 1)}
    pairs = Counter()
    for line in sys.stdin:
        ids = [numbers[word] for word in line.split()]
        for i, left in enumerate(ids):
            for right in ids[i + 1 : i + 1 + window]:
                pairs.update([(left, right), (right, left)])
    sys.stdout.buffer.write(b"".join(struct.pack("<iid", *pair, count) for pair, count in sorted(pairs.items())))
"""

DATATROVE = """
    import os
    import subprocess
    import sys

    script, *arguments = sys.argv[1:]
    name = os.path.basename(script)
    if name == "shard_datatrove.py":
        os.mkdir(arguments[2])
        print(1)
    else:
        own = script.replace("datatrove", "ours")
        subprocess.run([sys.executable, own, arguments[0]], check=True)
"""


def write_stand_ins(folder: Path) -> tuple[Path, Path]:
    """Write the programs, and return the folder of GloVe's and the Python of datatrove."""
    for name, source in (("vocab_count", VOCAB_COUNT), ("cooccur", COOCCUR), ("datatrove", DATATROVE)):
        path = folder / name
        path.write_text(f"#!{sys.executable}\n{textwrap.dedent(source)}")
        os.chmod(path, 0o755)
    return folder, folder / "datatrove"
