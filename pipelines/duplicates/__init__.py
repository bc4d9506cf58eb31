"""Duplicates of documents, paragraphs and lines: exact copies by hashes, and near duplicates by MinHash."""
