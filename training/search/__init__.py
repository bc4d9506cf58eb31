"""Searches for options: trials of pre-training and fine-tuning, in this process or on Ray Tune."""
