"""Launchers of pre-training and fine-tuning runs."""
