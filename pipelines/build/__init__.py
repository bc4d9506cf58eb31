"""Builds: making, updating, publishing and pruning versions."""
