"""Imports of spaCy without torch and its own commands, and of Arrow without pandas, each in a new process."""

import subprocess
import sys

COUNT = """
import sys
import pyarrow as pa
from pipelines.tokenizers.registry import make_tokenizer
tokens = make_tokenizer("spacy", lowercase=True).tokenize(pa.array(["Don't stop."], pa.large_string()))
assert tokens.ids.size == 4
"""


def run(code: str) -> None:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_commands_and_workers_tokenize_without_torch():
    run(f"""
from pipelines.lean_imports import leave_out_torch_and_pandas
leave_out_torch_and_pandas()
{COUNT}
assert "torch" not in sys.modules
import torch  # a later import finds it
assert torch.ones(2).sum() == 2
""")


def test_commands_and_workers_tokenize_without_the_commands_of_spacy():
    run(f"""
from pipelines.lean_imports import leave_out_torch_and_pandas
leave_out_torch_and_pandas()
{COUNT}
assert not {{"weasel", "httpx", "spacy.cli", "spacy.cli.info"}} & set(sys.modules)
from spacy.cli.info import info  # a later import finds it
assert info(silent=True)["spacy_version"]
""")


def test_build_imports_neither_torch_nor_pandas(tmp_path):
    (tmp_path / "text.txt").write_text("the cat saw the dog\n" * 20)
    run(f"""
import sys
from cluster.cli.main import main
sys.argv = ["bitcipher", "build", {str(tmp_path / "text.txt")!r}, "--out", {str(tmp_path / "built")!r}]
try:
    main()
except SystemExit as end:
    assert not end.code
assert "spacy" in sys.modules
assert not {{"torch", "pandas"}} & set(sys.modules)
""")


def test_arrow_converts_to_pandas_when_asked():
    run("""
import sys
from pipelines.lean_imports import leave_out_torch_and_pandas
leave_out_torch_and_pandas()
import pyarrow as pa
numbers = pa.array([1, 2, 3])
assert numbers.to_numpy().sum() == 6
assert "pandas" not in sys.modules
assert numbers.to_pandas().sum() == 6
import pandas as pd
assert pa.array(pd.Series([1.0, None])).null_count == 1
assert pa.Table.from_pandas(pd.DataFrame({"a": ["x", None]})).to_pydict() == {"a": ["x", None]}
""")


def test_arrow_knows_pandas_where_it_was_imported_before():
    run("""
import pandas as pd
import pyarrow as pa
from pipelines.lean_imports import leave_out_torch_and_pandas
leave_out_torch_and_pandas()
assert pa.array(pd.Series([1.0, None])).null_count == 1
""")


def test_spacy_finds_torch_in_the_process_of_a_user():
    run(f"""
{COUNT}
from thinc.compat import has_torch
assert has_torch
""")
