"""The command, and what running on clusters needs."""
