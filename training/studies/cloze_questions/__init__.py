"""Cloze questions: questions and answers made from plain text; see README.md."""
