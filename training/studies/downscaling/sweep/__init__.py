"""Downscaling studies of small language models; see README.md."""
