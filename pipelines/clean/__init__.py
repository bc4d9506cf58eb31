"""Cleaning rules for documents of web text."""
