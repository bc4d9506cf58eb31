"""Reproduction of tables and figures of papers."""
