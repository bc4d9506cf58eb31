from training.studies.downscaling.tokenizer_selection.published_scores import published_rows
from training.studies.downscaling.tokenizer_selection.selection_rule import TokenizerScores, choose
from training.studies.downscaling.tokenizer_selection.table import format_table

HEAD = "| Tokenizer | Vocabulary size | Word-split ratio | ESMS |\n| --- | ---: | ---: | ---: |\n"


def test_table_of_paper():
    lines = format_table(published_rows(), choose(published_rows())).splitlines()
    assert lines[:2] == HEAD.splitlines()
    assert len(lines) == 2 + 12
    assert lines[2] == "| bpe | 18,000 | 1.34 | 0.2868 |"
    assert lines[3] == "| **bpe** | **19,000** | **1.32** | **0.2604** |"
    assert lines[5] == "| bpe | pre-trained | 1.32 | 0.1547 |"
    assert lines[6] == "| *wordpiece* | *16,000* | *1.17* | *0.0339* |"
    assert "*" not in format_table(published_rows())


def test_table_shows_actual_size_of_smaller_tokenizer():
    rows = [
        TokenizerScores(kind="bpe", size=18_000, split_ratio=1.5, matching_score=0.25, tokens=1234),
        TokenizerScores(kind="bpe", size=300, split_ratio=2.0, matching_score=0.0, tokens=300),
    ]
    assert format_table(rows) == (
        f"{HEAD}| bpe | 18,000 (the text gives 1,234) | 1.50 | 0.2500 |\n| bpe | 300 | 2.00 | 0.0000 |\n"
    )
