"""Encoders of equal size, and ways to share embeddings in replaced-token detection (He et al. 2021)."""
