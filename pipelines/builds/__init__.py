"""Builds: functions that make, update, publish and prune versions."""
