"""Cloze questions: questions and answers made from plain text; see README.md."""

from training.cloze_questions.options import ClozeOptions

__all__ = ["ClozeOptions"]
