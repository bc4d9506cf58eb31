"""Cleaning rules for documents of web text."""

from pipelines.clean.base import CleaningRule, Drop
from pipelines.clean.document import Document
from pipelines.clean.registry import RULES, AnyRule, CleanedDocument, Rules, clean, load_rules

__all__ = ["RULES", "AnyRule", "CleanedDocument", "CleaningRule", "Document", "Drop", "Rules", "clean", "load_rules"]
