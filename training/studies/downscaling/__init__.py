"""Downscaling of small language models (Deshpande et al. 2023): language, tokenizer, models, laws."""
