"""Submission of commands as Ray jobs."""
