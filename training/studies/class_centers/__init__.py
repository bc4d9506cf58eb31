"""Class centers in the layers of language models (Ben-Shaul 2023), of words and of sentences."""
